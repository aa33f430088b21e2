"""A strategy and schedulers for import by a process pool."""

from pavior import Box, MachineView, Free, Job, Priority, Queue, Running, Scheduler, Strategy


class CornerFirst(Strategy):
    """First Fit: the first free base, x fastest."""

    name = "corner-first"
    claim = "first"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        if shape is None:
            return None
        width, height = free.shape
        for y in range(height):
            for x in range(width):
                if free.is_free((x, y), shape):
                    return Box((x, y), shape)
        return None


class Fails(Strategy):
    """Raises an exception of its own."""

    name = "fails"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        raise ZeroDivisionError("of its own")


class InOrder(Scheduler):
    """First come, first served."""

    name = "in-order"

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
        return 0 if view.can_start(0) else None


class Smallest(Priority):
    """Smallest job first, with backfilling."""

    name = "smallest"
    backfill = True

    def key(self, job: Job) -> float:
        return job.nodes


def shortest_demand(job: Job) -> float:
    """Returns the key for shortest service demand first."""
    return job.estimate
