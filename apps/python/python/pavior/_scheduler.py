"""Schedulers of one's own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from pavior._native import Box, MachineView, Job, Queue, Running

__all__ = ["NAMELESS", "Priority", "Scheduler", "name_of"]


class Scheduler:
    """A scheduler in Python: write `next`.

    It is asked at every instant at which something happened while jobs wait, and again after every
    start, until it answers None. An object is made for each run, without arguments. What a strategy
    does (turning, one box or several) is not its business: it asks `view.can_start`.

    >>> class Fcfs(Scheduler):
    ...     name = "my-fcfs"
    ...     def next(self, now, queue, running, view):
    ...         return 0 if view.can_start(0) else None
    >>> from pavior import simulate
    >>> mine = simulate("mesh:8x8", "tff", Fcfs, jobs=50)
    >>> mine.jobs["start"] == simulate("mesh:8x8", "tff", "fcfs", jobs=50).jobs["start"]
    True
    """

    name: ClassVar[str] = "my-scheduler"
    """Lower-case letters, digits and hyphens."""

    def next(
        self, now: float, queue: Queue, running: Running, view: MachineView
    ) -> int | tuple[int, Box | Sequence[Box]] | None:
        """The place in the queue of the job to start now, alone or with the boxes that it gets; None if
        none is to start. The three objects can be used until `next` returns."""
        raise NotImplementedError


class Priority(Scheduler):
    """A scheduler by keys: the waiting job with the least key starts first, ties by arrival.

    `key` is asked once for each job, when it first waits, and again if it waits anew after a failure of
    a node. A key that changes with time needs a `Scheduler`.
    """

    name: ClassVar[str] = "my-priority"
    backfill: ClassVar[bool] = False
    """Whether others are tried, in the order of their keys, if the least job does not fit; else it blocks
    them."""

    def key(self, job: Job) -> float:
        """The key of a job."""
        raise NotImplementedError


NAMELESS = "priority"
"""What a function without a name is called."""


def name_of(own: object) -> str:
    """The name under which a class or a function stands in experiments: its `name`, or that of the
    function in lower case with hyphens, `priority` if it has none."""
    name = getattr(own, "name", None)
    if isinstance(name, str):
        return name
    import re

    words = re.findall(r"[a-z0-9]+", getattr(own, "__name__", "").lower())
    return NAMELESS if words in ([], ["lambda"]) else "-".join(words)
