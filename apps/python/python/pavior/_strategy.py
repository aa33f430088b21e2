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

    `find` proposes free boxes; the machine grants them. A strategy that remembers is told of every
    change by `granted` and `released`, also of boxes that it did not propose. It must be copyable
    by `copy.deepcopy`, for questions about what would happen.

    What a strategy promises stands in three attributes. `pavior.judge` holds it to them in every
    state that it tries:

    - `contiguous`, the kind of answer. True: one box of the shape that was asked for. False: boxes
      that share no node, with as many nodes together as were asked for; the shape is a hint.
    - `turns`, which boxes may be granted. False: the shape alone. True: any of its orientations, as
      1x3 for 3x1. It says nothing where `contiguous` is False.
    - `claim`, when it may refuse, and which box it must choose:

      | claim | it refuses | it grants |
      |---|---|---|
      | `"first"` | only where no base is free | the first free base, x fastest, then y, then z; with `turns`, the first orientation that is free anywhere |
      | `"complete"` | only where no base is free | any free base |
      | `"partial"` | whenever it likes | any free base |
      | `"count"` | only where too few nodes are free | any free nodes; for `contiguous = False` |

    A *base* is the node of a box with the least coordinates; a base is free if every node of the box
    that begins there is. On an axis that wraps, as in a torus, every node can be a base. `"partial"`
    promises least: what is granted is still free and of the right shape.

    >>> from pavior import Box, Strategy, judge
    >>> class FirstFit(Strategy):
    ...     name, claim = "my-first-fit", "first"
    ...     def find(self, free, shape, nodes):
    ...         x, y = free.shape
    ...         for base in ((i, j) for j in range(y) for i in range(x)):
    ...             if free.is_free(base, shape):
    ...                 return Box(base, shape)
    >>> bool(judge(FirstFit, "mesh:3x3"))
    True
    """

    name: ClassVar[str] = "mine"
    """The name in results: lower-case letters, digits and hyphens; none of the built-in ones."""
    contiguous: ClassVar[bool] = True
    """Whether it grants one box of the shape asked for; else as many nodes as asked for, in boxes."""
    turns: ClassVar[bool] = False
    """Whether it may turn the shape: 3x1 may be granted as 1x3."""
    claim: ClassVar[Claim] = "partial"
    """What `pavior.judge` holds it to: `first`, `complete`, `partial` or `count`."""

    def __init__(self, machine: str, seed: int) -> None:
        """Called once a run with the machine's name, such as `mesh:16x16`; all nodes are free."""
        self.machine = machine
        self.seed = seed

    def find(
        self, free: Free, shape: tuple[int, ...] | None, nodes: int
    ) -> Box | Sequence[Box] | None:
        """Where a request goes now: a free box, several, or None to refuse.

        `free` shows the free nodes (`is_free`, `bases`, `largest`, `occupancy`); `shape` has one
        side an axis, x first, or is None where a number of `nodes` is asked for and no shape. A
        request that can never fit the machine is refused before this is called, except by `judge`.
        """
        raise NotImplementedError

    def granted(self, boxes: tuple[Box, ...]) -> None:
        """These nodes, free so far, are now taken."""

    def released(self, boxes: tuple[Box, ...]) -> None:
        """These nodes are free again."""
