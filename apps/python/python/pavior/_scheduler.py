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

    While jobs are waiting, `next` is called whenever an event occurs, and again after each job that it
    starts, until it returns None. A new object is created for each run, without arguments. A scheduler
    need not know how the strategy places jobs, because it can call `view.can_start`.

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
        """Returns the queue index of the job to start now, alone or with its boxes, or None to start no
        job. The three objects are valid only until `next` returns."""
        raise NotImplementedError


class Priority(Scheduler):
    """A scheduler that starts the waiting job with the smallest key first. Ties go to the earlier
    arrival.

    `key` is called once when a job joins the queue, and again if the job is requeued after a node
    failure. If a key must change over time, write a `Scheduler` instead.

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
    """True if, when the job with the smallest key does not fit, the other jobs are tried in key order.
    If False, that job blocks them."""

    def key(self, job: Job) -> float:
        """Returns the job's key."""
        raise NotImplementedError


NAMELESS = "priority"
"""The name given to a lambda."""


def name_of(own: object) -> str:
    """Returns the name by which experiments refer to a class or function: its `name`, a function's own
    name in lower case with hyphens, or else `priority`."""
    name = getattr(own, "name", None)
    if isinstance(name, str):
        return name
    import re

    words = re.findall(r"[a-z0-9]+", getattr(own, "__name__", "").lower())
    return NAMELESS if words in ([], ["lambda"]) else "-".join(words)
