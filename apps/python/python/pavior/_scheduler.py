"""The base classes of schedulers written in Python."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from pavior._native import Box, MachineView, Job, Queue, Running

__all__ = ["NAMELESS", "Priority", "Scheduler", "name_of"]


class Scheduler:
    """The base class of schedulers. Implement `next`.

    `next` is called at every instant with an event while jobs are waiting, and again after every
    start, until it returns None. An object is created for each run, without arguments. A scheduler
    need not know the strategy (turns, one box or several), because it can ask `view.can_start`.

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
    """The name in results: lower-case letters, digits and hyphens, and not a built-in name."""

    def next(
        self, now: float, queue: Queue, running: Running, view: MachineView
    ) -> int | tuple[int, Box | Sequence[Box]] | None:
        """Returns the queue index of the job to start now, alone or with its boxes; None starts no job.
        The three objects are valid until `next` returns."""
        raise NotImplementedError


class Priority(Scheduler):
    """A scheduler based on keys. The waiting job with the smallest key starts first (ties by arrival).

    `key` is called once for each job, when it starts to wait, and again if it is requeued after a node
    failure. For a key that changes with time, write a `Scheduler`.

    >>> class Smallest(Priority):
    ...     name = "smallest"
    ...     def key(self, job):
    ...         return job.nodes
    >>> from pavior import simulate
    >>> simulate("mesh:8x8", "tff", Smallest, jobs=50)["completed"]
    50.0
    """

    name: ClassVar[str] = "my-priority"
    backfill: ClassVar[bool] = False
    """True if other jobs are tried, in the order of their keys, when the job with the smallest key does
    not fit. Otherwise, that job blocks them."""

    def key(self, job: Job) -> float:
        """Returns the key of a job."""
        raise NotImplementedError


NAMELESS = "priority"
"""The name of a lambda."""


def name_of(own: object) -> str:
    """Returns the name of a class or a function in experiments: its `name`, or a function's own name in
    lower case with hyphens; `priority` if it has none."""
    name = getattr(own, "name", None)
    if isinstance(name, str):
        return name
    import re

    words = re.findall(r"[a-z0-9]+", getattr(own, "__name__", "").lower())
    return NAMELESS if words in ([], ["lambda"]) else "-".join(words)
