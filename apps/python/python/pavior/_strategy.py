"""Strategies of one's own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from pavior._native import Box, Free
    from pavior._types import Claim

__all__ = ["Strategy"]


class Strategy:
    """A strategy in Python: set the class attributes, write `find`.

    `find` proposes free boxes; the machine grants them. What it remembers is told to it by
    `granted` and `released`, which also tell of boxes that it did not propose. It must be copyable by
    `copy.deepcopy`, for questions about what would happen.
    """

    name: ClassVar[str] = "mine"
    """Lower-case letters, digits and hyphens."""
    contiguous: ClassVar[bool] = True
    """Whether it grants one box of the shape asked for; else as many nodes as asked for."""
    turns: ClassVar[bool] = False
    """Whether it may turn the shape."""
    claim: ClassVar[Claim] = "partial"
    """What `pavior.judge` holds it to: `first` free base in scan order, `complete` (refuses only
    where no base is free), `partial`, or `count` (succeeds if enough nodes are free)."""

    def __init__(self, machine: str, seed: int) -> None:
        self.machine = machine
        self.seed = seed

    def find(
        self, free: Free, shape: tuple[int, ...] | None, nodes: int
    ) -> Box | Sequence[Box] | None:
        """Free boxes for a request, or None."""
        raise NotImplementedError

    def granted(self, boxes: tuple[Box, ...]) -> None:
        """These nodes, free so far, are now taken."""

    def released(self, boxes: tuple[Box, ...]) -> None:
        """These nodes are free again."""
