"""The base class of strategies written in Python."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from pavior._native import Box, Free
    from pavior._types import Claim

__all__ = ["Strategy"]


class Strategy:
    """The base class of strategies. Set the class attributes and implement `find`.

    `find` proposes free boxes, and the machine grants them. Calls to `granted` and `released`
    notify a strategy of every change, including boxes that it did not propose. `copy.deepcopy` must
    be able to copy the strategy, so that hypothetical questions can be answered.

    Three attributes state a strategy's promises, which `pavior.judge` tests:

    - `contiguous`: if True, `find` returns one box of the requested shape. If False, it returns
      disjoint boxes with the requested total number of nodes, and the shape is only a hint.
    - `turns`: if True, `find` may rotate the shape, for example 3x1 to 1x3. It has no effect if
      `contiguous` is False.
    - `claim`: which requests `find` may refuse, and which box it must choose:

      | claim | it refuses | it grants |
      |---|---|---|
      | `"first"` | only if no base is free | the first free base, x fastest, then y, then z; with `turns`, the first orientation that is free anywhere |
      | `"complete"` | only if no base is free | any free base |
      | `"partial"` | at any time | any free base |
      | `"count"` | only if too few nodes are free | any free nodes (requires `contiguous = False`) |

    The *base* of a box is its node with the smallest coordinates. A base is free if every node in
    the box that begins there is free. On an axis that wraps around, any node can be a base.
    `"partial"` is the weakest claim: granted nodes must still be free and of the right shape.

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
    """The name in results: lower-case letters, digits and hyphens, and not a built-in name."""
    contiguous: ClassVar[bool] = True
    """True if the strategy grants one box of the requested shape; False if it grants nodes by count."""
    turns: ClassVar[bool] = False
    """True if the strategy may rotate the shape: 3x1 may be granted as 1x3."""
    claim: ClassVar[Claim] = "partial"
    """The claim that `pavior.judge` tests: `first`, `complete`, `partial` or `count`."""

    def __init__(self, machine: str, seed: int) -> None:
        """Called once per run, while all nodes are free, with the machine's name, such as `mesh:16x16`."""
        self.machine = machine
        self.seed = seed

    def find(
        self, free: Free, shape: tuple[int, ...] | None, nodes: int
    ) -> Box | Sequence[Box] | None:
        """Returns a free box or several, or None to refuse the request.

        `free` shows the free nodes (`is_free`, `bases`, `largest`, `occupancy`). `shape` has one
        side per axis, x first, or is None if only a number of `nodes` is requested. A request that
        can never fit on the machine is refused before this method is called, except in `judge`.
        """
        raise NotImplementedError

    def granted(self, boxes: tuple[Box, ...]) -> None:
        """Called when free nodes are granted."""

    def released(self, boxes: tuple[Box, ...]) -> None:
        """Called when nodes become free again."""
