"""The native part of the package. Import `pavior` instead."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, final, overload

import numpy as np
import numpy.typing as npt
from pavior._scheduler import Scheduler
from pavior._strategy import Strategy
from pavior._types import (
    ArrowTable,
    Freedom,
    JobName,
    KeyFunction,
    MachineName,
    Node,
    OwnClass,
    Reason,
    Shape,
    Time,
    Value,
)
from typing_extensions import deprecated

__all__ = [
    "FREEDOMS",
    "REASONS",
    "Allocation",
    "Box",
    "Cancel",
    "Directory",
    "Episode",
    "Episodes",
    "Explanation",
    "Forecasts",
    "Free",
    "Job",
    "Journal",
    "Judgement",
    "Machine",
    "MachineView",
    "Progress",
    "Queue",
    "QueueIterator",
    "Result",
    "Results",
    "Running",
    "Slots",
    "Span",
    "Specification",
    "Table",
    "Trace",
    "forecast",
    "judge",
    "simulate",
]

FREEDOMS: tuple[str, ...]
"""The values of `Freedom`, from the most restrictive to the most permissive."""
REASONS: tuple[str, ...]
"""The values of `Reason`."""

@final
class Box:
    """A box of nodes, given by its sides and its base (the corner with the smallest coordinates).

    >>> from pavior import Box
    >>> box = Box((0, 2), (4, 2))
    >>> box.nodes()
    8
    """

    def __new__(cls, base: Node, sides: Shape) -> Self:
        """Creates a box. `base` and `sides` have one number per axis of the machine."""
    @property
    def base(self) -> tuple[int, ...]:
        """The corner with the smallest coordinates, before wrapping."""
    @property
    def sides(self) -> tuple[int, ...]:
        """The sides, in nodes."""
    def nodes(self) -> int:
        """Returns the number of nodes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Allocation:
    """The nodes that a job holds. Leaving a `with` block releases them.

    >>> from pavior import Machine
    >>> machine = Machine("mesh:4x4")
    >>> with machine.allocate((2, 2)) as allocation:
    ...     machine.free
    12
    >>> machine.free
    16
    """

    @property
    def job(self) -> JobName:
        """The name of the job."""
    @property
    def nodes(self) -> int:
        """The number of granted nodes, which may exceed the requested number."""
    @property
    def boxes(self) -> tuple[Box, ...]:
        """The disjoint boxes, in the order granted."""
    def mask(self) -> npt.NDArray[np.bool_]:
        """Returns an array, indexed `[z, y, x]`, that is True at the job's nodes. Requires numpy."""
    def release(self) -> None:
        """Releases the nodes. Raises `KeyError` if the job no longer holds them."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def _repr_html_(self) -> str: ...

@final
class Machine:
    """A machine and the strategy that allocates its nodes. Threads may share a machine; calls run one at a
    time.

    >>> from pavior import Machine
    >>> machine = Machine("torus:8x8x8", "tff")
    >>> allocation = machine.allocate((4, 4, 2))
    >>> allocation.boxes
    (Box((0, 0, 0), (4, 4, 2)),)
    >>> machine.free
    480
    """

    def __new__(
        cls,
        machine: MachineName,
        strategy: str | type[Strategy] = "tff",
        *,
        shape_rule: str = "compact",
        seed: int = 1,
    ) -> Self:
        """Creates an empty machine.

        Parameters
            machine: a name, such as `torus:8x8x8`, or the sides of a mesh, such as `(16, 16)`
            strategy: a name with options, such as `tff:scan=yx`, or a class
            shape_rule: the rule that turns a number of nodes into a box
            seed: the seed for strategies and rules that make random choices

        Raises `BadName` for an unknown name, and `PaviorError` if the strategy does not work on the machine."""
    def allocate(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        job: JobName | None = None,
        freedom: Freedom | None = None,
    ) -> Allocation:
        """Grants nodes to a job.

        Parameters
            shape: one to three sides, such as `(4, 4, 2)` or `"4x4x2"`; an int means a number of nodes
            nodes: a number of nodes, for which the shape rule chooses a box
            job: the name of the job (default: the next number)
            freedom: the freedom in placing the job (default: the strategy's)

        If the request is refused, raises `Refused` with the reason. Raises `ValueError` if the job already
        holds nodes."""
    def try_allocate(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        job: JobName | None = None,
        freedom: Freedom | None = None,
    ) -> Allocation | Reason:
        """Does the same as `allocate`, but returns the reason for a refusal instead of raising `Refused`."""
    def allocate_at(self, boxes: Box | Sequence[Box], *, job: JobName | None = None) -> Allocation:
        """Grants the given boxes to a job. Raises `ValueError` if they are not all free."""
    def release(self, what: Allocation | JobName) -> None:
        """Releases a job's nodes. Raises `KeyError` if the job does not hold them."""
    def probe(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
    ) -> tuple[Box, ...] | Reason:
        """Returns the boxes that a request would get now, or the reason why it would be refused. Does not
        change the machine."""
    def explain(
        self,
        shape: Shape | None = None,
        strategies: str | Sequence[str] = (),
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
    ) -> Explanation:
        """Compares where several strategies would place a request, and finds the jobs in the way."""
    def slots(self, shape: Shape, *, moves: int = 0, budget: int = 120_000_000) -> Slots:
        """Counts how many boxes of a shape, rotated or not, fit at the same time after at most `moves` jobs
        have moved. Does not change the machine. `budget` limits the search, in bit-set words."""
    def fail(self, node: Node) -> JobName | None:
        """Marks a node as failed and returns the job that holds it, if any. The job keeps the node until it
        releases it."""
    def repair(self, node: Node) -> None:
        """Marks a node as healthy again."""
    def fork(self) -> Machine:
        """Returns an independent copy on which changes can be tried out."""
    @property
    def free(self) -> int:
        """The number of free, healthy nodes."""
    @property
    def busy(self) -> int:
        """The number of nodes held by jobs."""
    @property
    def failed(self) -> int:
        """The number of failed nodes that no job holds."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sides of the machine."""
    @property
    def name(self) -> str:
        """The name of the machine, such as `torus:8x8x8`."""
    @property
    def strategy(self) -> str:
        """The strategy, with its options."""
    @property
    def shape_rule(self) -> str:
        """The rule that turns a number of nodes into a box, with its options."""
    @property
    def largest_free(self) -> tuple[int, ...]:
        """The sides of the largest free box; all zeros if no node is free."""
    @property
    def generation(self) -> int:
        """A counter that increases with every change."""
    def occupancy(self, out: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.bool_]:
        """Returns `out`, or a new array, indexed `[z, y, x]`, that is True at free nodes. Requires numpy."""
    def holders(self) -> npt.NDArray[np.int64]:
        """Returns an array that gives, for each node, the index in `jobs` of the job that holds it, -1 if the
        node is free, or -2 if it has failed. Requires numpy."""
    @property
    def jobs(self) -> Mapping[JobName, Allocation]:
        """A snapshot of the jobs that hold nodes, in the order granted."""
    def to_json(self) -> str:
        """Returns the state as JSON, for `from_json`. Raises `TypeError` if the strategy is a Python class."""
    @classmethod
    def from_json(cls, text: str) -> Machine:
        """Creates a machine from the output of `to_json`. A strategy that makes random choices restarts its
        random stream."""
    def _repr_svg_(self) -> str: ...

@final
class Explanation:
    """A comparison of where several strategies would place a request, and the jobs in the way."""

    @property
    def answers(self) -> Mapping[str, tuple[Box, ...] | Reason]:
        """The boxes that each strategy would grant, or the reason why it would refuse."""
    @property
    def fits(self) -> Box | None:
        """A place where the box, rotated or not, would fit now."""
    @property
    def nearest(self) -> Box | None:
        """The free box that is most similar to the requested one."""
    @property
    def largest_free(self) -> Box | None:
        """The largest free box."""
    @property
    def why(self) -> tuple[str, ...]:
        """The explanation in sentences: the reason, the jobs in the way, and moves that would make room."""
    @property
    def blocked(self) -> Box | None:
        """The place that is cheapest to empty. Any moves in `why` empty this place."""
    @property
    def blocked_by(self) -> Mapping[JobName, int]:
        """The jobs that hold nodes in `blocked`, with the number of nodes that each holds, largest first."""
    def _repr_svg_(self) -> str: ...

@final
class Slots:
    """Boxes of one shape that fit at the same time, and an upper bound on their number."""

    @property
    def count(self) -> int:
        """The number of boxes found."""
    @property
    def bound(self) -> int:
        """An upper bound on the number of boxes."""
    @property
    def proven(self) -> bool:
        """True if it has been proved that no more boxes fit."""
    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes."""
    @property
    def moves(self) -> tuple[tuple[JobName, tuple[Box, ...], tuple[Box, ...]], ...]:
        """The moves that make room, each a tuple of the job, its old boxes, and its new boxes."""

@final
class Free:
    """The nodes that are free when a strategy is called."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sides of the machine."""
    @property
    def wraps(self) -> tuple[bool, ...]:
        """True for each axis that wraps around: every axis of a torus, and no axis of a mesh."""
    @property
    def count(self) -> int:
        """The number of free nodes."""
    def is_free(self, base: Node, sides: Shape) -> bool:
        """Returns True if every node in a box is free, and False if not or if the box extends beyond the machine."""
    def bases(self, sides: Shape) -> npt.NDArray[np.bool_]:
        """Returns an array, indexed `[z, y, x]`, that is True at the base of every free box with these sides.
        Requires numpy."""
    def largest(self) -> Box | None:
        """Returns the largest free box, or None if no node is free."""
    def occupancy(self) -> npt.NDArray[np.bool_]:
        """Returns an array, indexed `[z, y, x]`, that is True at free nodes. Requires numpy."""

@final
class Job:
    """A job as seen by schedulers and priority functions. Times are in units."""

    @property
    def id(self) -> int:
        """The job's index in order of arrival, starting at 0."""
    @property
    def job(self) -> int:
        """The job's number in the log, or its `id` if there is no log."""
    @property
    def submit(self) -> float:
        """The time of arrival."""
    @property
    def nodes(self) -> int:
        """The requested number of nodes."""
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The requested sides, or None if the job requests only a number of nodes."""
    @property
    def estimate(self) -> float:
        """The estimated run time. For a job that sends messages, the number of messages or iterations."""
    @property
    def start(self) -> float | None:
        """The start time, or None if the job is waiting."""
    @property
    def estimated_end(self) -> float | None:
        """The estimated end time, or None if the job is waiting."""

@final
class Queue:
    """The waiting jobs, oldest first. This object is valid only during a call to `Scheduler.next`."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Job: ...
    def __iter__(self) -> QueueIterator: ...
    def table(self) -> Table:
        """Returns a table of the jobs with the columns `id`, `job`, `submit`, `nodes`, `estimate`, `x`, `y`
        and `z`."""

@final
class QueueIterator:
    """An iterator over the waiting jobs that creates each `Job` on demand."""

    def __iter__(self) -> QueueIterator: ...
    def __next__(self) -> Job: ...

@final
class Running:
    """The running jobs, ordered by estimated end. This object is valid only during a call to `Scheduler.next`."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Job: ...
    def __iter__(self) -> Iterator[Job]: ...
    def table(self) -> Table:
        """Returns a table of the jobs with the same columns as the queue's table, plus `start` and `estimated_end`."""

@final
class MachineView:
    """The machine as seen by a scheduler. Calls to `can_start` and `refusal` count as attempts in the
    metrics. This object is valid only during a call to `Scheduler.next`."""

    def can_start(self, index: int) -> bool:
        """Returns True if the job at this index in the queue could start now."""
    def refusal(self, index: int) -> Reason | None:
        """Returns the reason why the job at this index in the queue cannot start now, or None if it can."""
    @property
    def machine(self) -> str:
        """The name of the machine, such as `torus:8x8x8`."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sides of the machine."""
    @property
    def free(self) -> int:
        """The number of free, healthy nodes."""
    def boxes(self, id: int) -> tuple[Box, ...] | None:
        """Returns the boxes held by the running job with this `id`, or None if it holds none."""
    def occupancy(self) -> npt.NDArray[np.bool_]:
        """Returns a new array, indexed `[z, y, x]`, that is True at free nodes. Requires numpy."""
    def fork(self) -> Machine:
        """Returns a copy of the machine on which to try out a plan. Its jobs are named by their `id`."""

@final
class Judgement:
    """The result of testing a strategy. It is true if all answers are as claimed.

    A notebook shows the result in words and draws the first wrong answer, if there is one.
    """

    @property
    def answers(self) -> int:
        """The number of correct answers before the first wrong one."""
    @property
    def passed(self) -> bool:
        """True if every answer was as claimed."""
    @property
    def counterexample(self) -> str | None:
        """The first wrong answer, with the request, the answer, the error, and a drawing of the state; None
        if every answer was as claimed."""
    @property
    def asked(self) -> tuple[Free, tuple[int, ...] | None, int] | None:
        """The arguments with which `find` gave its first wrong answer, if any. To repeat the call, use
        `Mine("mesh:3x3", 1).find(*judgement.asked)`."""
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...

def judge(
    strategy: type[Strategy] | str,
    machine: MachineName = "mesh:3x3",
    *,
    how: Literal["every", "random", "history"] = "every",
    seed: int = 1,
    progress: bool | Callable[[Progress], object] | None = None,
) -> Judgement:
    """Tests a strategy, given as a class or a name, against an oracle that tries every base.

    A strategy can be correct on a mesh but wrong on a torus, so test it on every kind of machine that it
    supports.

    >>> from pavior import judge
    >>> bool(judge("tff", "mesh:3x3"))
    True

    `how` selects the states to test: `every` occupancy of a machine with at most 12 nodes, reached node by
    node; `random` boxes; or a `history` of 2,000 random allocations, releases, failures and repairs on a
    machine of any size. The states depend only on `seed`.

    The test always checks that granted nodes are on the machine and free. They must form the requested box
    (in any orientation if `turns` is set), or add up to the requested number of nodes if `contiguous` is
    False. The test also checks the strategy's claim (`first`, `complete`, `partial` or `count`; see
    `Strategy`).

    The result is true if all answers are correct. Otherwise, it describes and draws the first wrong answer.
    Exceptions raised by the strategy propagate. `progress` works as in `simulate`.
    """

@final
class Table:
    """A table stored in Arrow memory, which polars, pyarrow, pandas and DuckDB can read without copying."""

    @property
    def unit(self) -> str:
        """The unit of times: `s`, `time_unit` or `cycle`."""
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]:
        """Returns a column's values as Python objects. Raises `KeyError` if there is no such column."""
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Returns an iterator over the rows, each as a dictionary keyed by column name."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns the table as an Arrow C stream. `requested_schema` is ignored."""
    def to_polars(self) -> Any:
        """Returns the table as a polars data frame."""
    def to_pyarrow(self) -> Any:
        """Returns the table as a pyarrow table."""
    def to_pandas(self) -> Any:
        """Returns the table as a pandas data frame."""
    def _repr_html_(self) -> str: ...

@final
class Trace:
    """A log of jobs, from a file or a table."""

    @overload
    def __new__(
        cls,
        source: str | os.PathLike[str],
        *,
        first: int | None = None,
        filter: str | None = None,
        status: str | None = None,
        lenient: bool = False,
        dependencies: bool = False,
        processors_per_node: int | None = None,
        nodes_from: int | None = None,
        pieces: bool = False,
        log_format: str | None = None,
    ) -> Self:
        """Reads a log file, which may be gzipped. Raises `ValueError` if a line is invalid.

        Parameters
            source: the path
            first: the number of job lines to read (default: all)
            filter: keeps jobs whose fields have these values, such as `partition=gpu,queue=1`
            status: keeps jobs with these values in field 11
            lenient: skips malformed lines
            dependencies: keeps jobs that follow another job and therefore have no submit time
            processors_per_node: divides sizes given in processors
            nodes_from: the column of an SWF log that contains node counts
            pieces: keeps parts of jobs
            log_format: the format, if it cannot be detected from the file's text or name"""
    @overload
    def __new__(cls, source: ArrowTable) -> Self:
        """Reads any Arrow table with the columns `submit`, `run` and `nodes`. The columns `job`, `estimate`,
        `x`, `y`, `z`, `freedom` (text), `user`, `queue` and `partition` are optional. The last three contain
        numbers or names; names are numbered in order of first appearance. Times are numbers of seconds,
        timestamps or durations. Raises `ValueError` if a row is invalid.

        >>> import pyarrow  # doctest: +SKIP
        >>> Trace(pyarrow.table({"submit": [0, 60], "run": [30, 30], "nodes": [4, 8]}))  # doctest: +SKIP
        """
    @staticmethod
    @deprecated("Trace.read(path) is deprecated; use Trace(path)")
    def read(
        path: str | os.PathLike[str],
        *,
        first: int | None = None,
        filter: str | None = None,
        status: str | None = None,
        lenient: bool = False,
    ) -> Trace:
        """Deprecated; use `Trace(path)`. It will be removed in the next version."""
    @staticmethod
    @deprecated("Trace.from_arrow(table) is deprecated; use Trace(table)")
    def from_arrow(table: ArrowTable) -> Trace:
        """Deprecated; use `Trace(table)`. It will be removed in the next version."""
    @property
    def jobs(self) -> Table:
        """A table of the jobs in order of submission. Its columns are `job`, `submit`, `run`, `estimate` (in
        seconds), `nodes`, `x`, `y`, `z`, `freedom`, `user`, `queue` and `partition`. Unknown values are null."""
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Result:
    """The results of one run.

    >>> from pavior import simulate
    >>> result = simulate("mesh:8x8", "tff", "easy", jobs=100)
    >>> result["completed"]
    100.0
    """

    @property
    def metrics(self) -> Table:
        """A table with one row per metric and the columns `metric`, `value` (null if the metric does not
        apply) and `unit`."""
    @property
    def jobs(self) -> Table:
        """A table with one row per job, in order of arrival. Its columns are `job` (the job's number in the
        log), `submit`, `start`, `end` (null if there is none), `nodes`, `granted_nodes`, `fate`, `reason`
        (why the job was rejected) and `boxes` (base and sides, six numbers per box)."""
    @property
    def placements(self) -> Table:
        """A table with one row per box that a job held, and the columns `job`, `start`, `end`, and `base_x`
        to `side_z`."""
    @property
    def end(self) -> float:
        """The time when the last job departed, in units, or 0 if no job did."""
    @property
    def unit(self) -> str:
        """The unit of times: `s`, `time_unit` or `cycle`."""
    def steps(self, metric: Literal["busy", "queue", "largest_free"]) -> Table:
        """Returns a time series with the columns `time` and `value` and one row per change. `metric` is
        `busy` (nodes held by jobs), `queue` (waiting jobs) or `largest_free` (nodes in the largest free box).
        Before the first row, the value is 0. Series are not available for runs with node failures."""
    def __getitem__(self, metric: str, /) -> float | None:
        """Returns a metric's value, or None if the metric does not apply. Raises `KeyError` if it was not measured."""
    def _repr_html_(self) -> str: ...

@final
class Forecasts:
    """A forecast for each job in a log, made when the job is submitted, and the actual start."""

    @property
    def jobs(self) -> Table:
        """A table with one row per job that has started, in order of arrival. Its columns are `job` (the
        job's number in the log), `user`, `nodes`, `submit`, `low`, `median` and `high` (the 5, 50 and 95%
        quantiles of the start), `plan` and `corrected` (the start planned from the users' estimates, as given
        and corrected by earlier run times), the actual `start`, and `held`, which is True if the job started
        within its interval. Times are in seconds."""
    @property
    def waited(self) -> int:
        """The number of jobs that had to wait."""
    @property
    def rejected(self) -> int:
        """The number of jobs that were left out because they can never fit."""
    @property
    def held(self) -> float | None:
        """The fraction of jobs that started within their interval, among those that had to wait, or
        `None` if no job had to wait."""
    @property
    def losses(self) -> dict[str, float]:
        """The mean pinball loss over the 5, 50 and 95% quantiles, in seconds, for the `intervals`, the
        `plan`, the `corrected` plan, and quantiles of `past_waits`, over the jobs that had to wait. If there
        are none, all losses are 0."""
    def _repr_html_(self) -> str: ...

def forecast(
    trace: Trace | str | os.PathLike[str],
    machine: MachineName = "mesh:16x16",
    strategy: str = "tff",
    scheduler: str = "easy",
    *,
    futures: int = 8,
    threads: int = 1,
    progress: bool | Callable[[Progress], object] | None = None,
    shape_rule: str = "compact",
    freedom: str | None = None,
    seed: int = 1,
    first: int | None = None,
    filter: str | None = None,
    status: str | None = None,
    lenient: bool = False,
    dependencies: bool | None = None,
    processors_per_node: int | None = None,
    nodes_from: int | None = None,
    pieces: bool | None = None,
    log_format: str | None = None,
) -> Forecasts:
    """Forecasts when each job in a log will start, as an interval, using only what is known when it is
    submitted.

    >>> import pavior
    >>> told = pavior.forecast("docs/advise.in/jobs.sacct", "torus:8x8")  # doctest: +SKIP
    >>> told.jobs["low"][:3]  # doctest: +SKIP

    Each forecast runs `futures` simulations on `threads` threads. The number of threads does not affect the
    results. `progress`, the other keywords and the exceptions are the same as for `simulate`."""

# The declaration of `simulate` is generated from the list of parameters.
def simulate(
    machine: MachineName = "mesh:16x16",
    strategy: str | type[Strategy] = "tff",
    scheduler: str | type[Scheduler] | KeyFunction = "fcfs",
    *,
    trace: Trace | str | os.PathLike[str] | None = None,
    replication: int = 0,
    progress: bool | Callable[[Progress], object] | None = None,
    shape_rule: str = "compact",
    arrival_scale: float = 1,
    first: int | None = None,
    filter: str | None = None,
    status: str | None = None,
    estimates: str = "log",
    kill: bool = False,
    lenient: bool = False,
    dependencies: bool | None = None,
    processors_per_node: int | None = None,
    nodes_from: int | None = None,
    pieces: bool | None = None,
    log_format: str | None = None,
    sides: str = "uniform",
    service: str = "exponential",
    arrivals: str = "exponential",
    communication: float | None = None,
    contention: Literal["estimated", "simulated"] = "estimated",
    cycles_per_second: int = 1000000,
    pattern: str = "one-to-all",
    order: str | None = None,
    sending: Literal["sequential", "blocking", "pipelined"] | None = None,
    rounds: Literal["barrier", "free"] | None = None,
    ranks: Literal["coordinates", "parts", "snake", "hilbert", "greedy", "pattern"] = "coordinates",
    flits: int = 8,
    routing_delay: int = 3,
    buffer: int = 1,
    engine: Literal["worm", "flit"] = "worm",
    release: Literal["drained", "passed"] = "drained",
    lanes: Literal["1", "2", "shared"] = "2",
    link_energy: float = 1,
    router_energy: float = 1,
    mttf: Time | None = None,
    mttr: Time | None = None,
    fail_classes: str | None = None,
    spares: int | None = None,
    spare_switches: int | None = None,
    slice: str | None = None,
    failures: str | None = None,
    checkpoint: Time | None = None,
    reservations: str | None = None,
    jobs: int = 1000,
    freedom: str | None = None,
    migration: Time | None = None,
    movable: str | None = None,
    warmup: int = 0,
    slowdown_bound: Time | None = None,
    max_waiting: int | None = None,
    max_time: Time | None = None,
    max_interruptions: int | None = None,
    seed: int = 1,
    load: float = 1.5,
    metrics: str | Sequence[str] | None = None,
    timing: bool = True,
) -> Result:
    """Runs one simulation and returns its results as tables.

    Every keyword is an experiment-file parameter, spelled with `_` instead of `-` and described in
    docs/parameters.md. Raises `ValueError` for a parameter that does not apply, such as `load`
    when a log is replayed, and for a list of several values, which only `Experiment` accepts.
    Raises `BadName` for an unknown name. Times are in seconds for a log and in units of time
    otherwise; a `datetime.timedelta` is converted to seconds. Ctrl-C ends a run within half a
    second.

    Parameters: Machine, strategies and schedulers
        machine: the machine: 'mesh:16x16', 'torus:8x8x8', 'grid:8wx4x4w' (w: a side that wraps),
            or (16, 16)
            (str, or the sides of a mesh as an int or a sequence of ints; default 'mesh:16x16')
        strategy: the rule that chooses a job's nodes; `pavior strategies` lists the names
            (str, or a subclass of `Strategy`; default 'tff')
        scheduler: the rule that chooses the next job; `pavior schedulers` lists the names
            (str, a subclass of `Scheduler` or `Priority`, or a function that returns a job's key;
            default 'fcfs')
        reservations: a file of advance reservations, which no job may overlap: JSON lines
            {"boxes":[{"base":[0,0],"sides":[4,2]}],"from":3600,"to":7200}; "nodes":[[1,1]] may
            replace "boxes"
            (str; default None)
        freedom: the placements that jobs accept: box, turned, any-box, connected or any; may
            depend on a job's size (box:16,connected), on a column (box:queue=2) or on a share of
            jobs (any:25%)
            (str; default None)
        migration: moves running jobs to make room for the oldest waiting job if this pays off; the
            value is the run time that a move adds to a job, per node moved
            (float or timedelta, in units of time; default None)
        movable: the running jobs that may be moved: those that meet any of the given conditions,
            each a maximum size in nodes (64), a column's value (queue=1) or a share of all jobs
            (25%); default: all
            (str; default None)

    Parameters: Synthetic workload
        sides: the distribution of the requested boxes' sides
            (str: 'uniform', 'uniform-decreasing', 'exponential', 'pods'; default 'uniform')
        service: the distribution of run times or messages
            (str: 'exponential', 'constant', 'messages', 'iterations'; default 'exponential')
        arrivals: the arrival process
            (str: 'exponential', 'bursts'; default 'exponential')
        jobs: ends a run after this many jobs have completed
            (int, in jobs; default 1000)
        load: arrivals per unit of time
            (float, in jobs per unit of time; default 1.5)

    Parameters: Messages (service messages or iterations; logs with communication)
        communication: the fraction of a logged job's run time, from 0 to 1, that is spent on
            communication; the duration of this part depends on the network
            (float; default None)
        contention: the model of contention between logged jobs that share links
            ('estimated' (a queueing model of the links), 'simulated' (a slow simulation of the
            jobs' messages); default 'estimated')
        cycles_per_second: the number of network cycles per second of log time
            (int, in cycles; default 1000000)
        pattern: the messages that jobs send; see `pavior patterns`
            (str: 'one-to-all', 'all-to-all', 'near-neighbour', 'random', 'ring', 'all-reduce',
            'recursive-doubling', 'binomial-tree', 'n-body', 'multigrid', 'stencil',
            'axis-all-to-all'; default 'one-to-all')
        order: the order of destinations in one-to-all and all-to-all patterns
            (str; default None)
        sending: the number of messages in flight at a time; default: sequential for messages,
            blocking for iterations
            ('sequential' (one message per job), 'blocking' (one message per rank), 'pipelined'
            (all messages of each rank); default None)
        rounds: the synchronization between a pattern's rounds; default: as the pattern specifies
            ('barrier' (a round starts once the previous one's messages are delivered), 'free'
            (ranks continue without waiting); default None)
        ranks: the order in which ranks are assigned to a job's nodes
            ('coordinates' (row-major over the whole allocation), 'parts' (part by part), 'snake'
            (row by row, with every other row of the job reversed), 'hilbert' (along the Hilbert
            curve through the machine), 'greedy' (next to the previous rank if possible, otherwise
            on the nearest unused node), 'pattern' (chosen so that the pattern's messages need few
            hops, even if the job has a single box); default 'coordinates')
        flits: the message length
            (int, in flits; default 8)
        routing_delay: the time a node takes to route a header
            (int, in cycles; default 3)
        buffer: the capacity of each channel's buffer
            (int, in flits; default 1)
        engine: the network engine; the two engines give the same results
            ('worm' (header events only), 'flit' (flit by flit); default 'worm')
        release: when a channel becomes free for the next message
            ('drained' (when its buffer has drained), 'passed' (when the tail has passed); default
            'drained')
        lanes: the virtual channels per link on axes that wrap around
            ('1' (one, which can deadlock), '2' (two, each with the full bandwidth), 'shared' (two
            that share the bandwidth); default '2')
        link_energy: the energy to move one flit over a link
            (float, in units of energy; default 1)
        router_energy: the energy to move one flit through a router
            (float, in units of energy; default 1)

    Parameters: Job log
        trace: a job log, replayed until its last job departs; without a log, jobs are synthetic
            (Trace, or a path to a .swf, .sim, .json or .sacct file, optionally gzipped; default
            None)
        shape_rule: the rule that turns a node count into a box
            (str: 'compact', 'exact', 'pow2', 'random'; default 'compact')
        arrival_scale: multiplies the times between arrivals by this factor
            (float; default 1)
        first: reads at most this many job lines
            (int, in lines; default None)
        filter: keeps only jobs whose fields have these values, such as partition=gpu,queue=1
            (str; default None)
        status: keeps only jobs with one of these comma-separated statuses: names, or numeric codes
            as in field 11 of the log
            (str; default None)
        estimates: the run-time estimates given to schedulers: log, exact or factor:2
            (str; default 'log')
        kill: kills logged jobs when they reach their estimates; time added by messages and moves
            does not count
            (bool; default False)
        lenient: skips and counts malformed lines instead of stopping at the first
            (bool; default False)
        dependencies: submits each job only after its predecessors in the log (fields 17 and 18)
            have ended
            (bool; default None)
        processors_per_node: the number of processors per node; 1 treats sizes as node counts,
            regardless of the header
            (int; default None)
        nodes_from: the SWF column (counting from 1) that contains the node count: 4, 2x4 or
            text:2x4
            (int; default None)
        pieces: keeps partial jobs (status 2, 3 or 4) even if the log also contains the whole job
            (bool; default None)
        log_format: the log format, if it cannot be detected from the contents or the file name
            (str; default None)

    Parameters: Failures
        mttf: a node's mean time to failure (exponential)
            (float or timedelta, in units of time; default None)
        mttr: a node's mean time to repair (exponential)
            (float or timedelta, in units of time; default None)
        fail_classes: the kinds of components that can fail, with their mean times to failure and
            repair: chip:mttf=1e5:mttr=24,cube:mttf=9000:mttr=24,switch:mttf=1e5:mttr=8
            (str, in units of time; default None)
        spares: the number of spare cubes (4x4x4 nodes each), unused until another cube fails
            (int, in cubes; default None)
        spare_switches: the number of spare switches, which replace failed ones
            (int, in switches; default None)
        slice: the slice whose availability is measured: a number of 4x4x4-node cubes, or the sides
            of a box in nodes, such as 8x8x16; see the metrics slice_availability and slice_free
            (str; default None)
        failures: a file of failures and repairs: JSON lines {"op":"fail","node":[1,1],"at":60};
            "cube" or "switch" may replace "node"
            (str; default None)
        checkpoint: the run time between checkpoints; default: interrupted jobs start over
            (float or timedelta, in units of time; default None)

    Parameters: Replications
        replication: the number of the replication to run; each replication has different jobs
            (int; default 0)
        warmup: the number of completed jobs to ignore before averaging begins
            (int, in jobs; default 0)
        max_waiting: ends a run of synthetic jobs with an error when more than this many jobs are
            waiting; default: 1000000
            (int, in jobs; default None)
        max_time: ends a run with an error at this time; default: the largest possible time
            (float or timedelta, in units of time; default None)
        max_interruptions: ends a run with an error if any job loses nodes more than this many
            times; default: 10000
            (int, in times; default None)
        seed: the seed for all random numbers
            (int; default 1)

    Parameters: Results
        progress: True shows progress on standard error; None does so only if that is a terminal,
            and only after two seconds; False does not. A function is called every half second
            (bool, or a function that takes a `Progress`; default None)
        slowdown_bound: the minimum run time used in the bounded slowdown; default: 10 s (logs) or
            1 unit
            (float or timedelta, in units of time; default None)
        metrics: the metrics to observe; +NAME adds one to the defaults; see `pavior metrics`
            (str or a sequence of str; default None)
        timing: measures how long allocation attempts take
            (bool; default True)
    """
# End of the generated declaration.

@final
class Episodes:
    """Creates episodes with one combination of parameters, for `pavior.gym`."""

    def __new__(
        cls,
        machine: MachineName,
        strategy: str | type[Strategy],
        scheduler: str | type[Scheduler] | KeyFunction,
        *,
        jobs: int | None = None,
        **parameters: Trace | os.PathLike[str] | Value | Sequence[str],
    ) -> Self: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The sides of the machine."""
    def scheduling(self, replication: int, window: int) -> Episode:
        """Creates an episode in which the caller schedules jobs and sees the first `window` jobs in the queue."""
    def allocating(self, replication: int) -> Episode:
        """Creates an episode in which the caller places jobs."""

@final
class Episode:
    """A run that pauses at each decision, for `pavior.gym`."""

    def step(
        self, action: int
    ) -> tuple[list[bytearray], float, bool, float, tuple[int, int, int], bool]:
        """Carries out an action and continues to the next decision."""
    def see(self) -> tuple[list[bytearray], float, bool, float, tuple[int, int, int], bool]:
        """Returns the current observation without carrying out an action."""
    def drawn(self) -> str:
        """Draws the machine as text. `.` is a free node, and `#` is a busy or failed node."""

@final
class Span:
    """A range of consecutive replications of one point. Work is distributed in spans."""

    def __new__(cls, point: int, first: int, end: int) -> Self:
        """Creates a span that contains the replications from `first` up to, but not including, `end`."""
    @property
    def point(self) -> int:
        """The index of the point."""
    @property
    def first(self) -> int:
        """The first replication."""
    @property
    def end(self) -> int:
        """The index after the last replication. `range(span.first, span.end)` contains all replications."""
    @property
    @deprecated("Span.last is one past the last replication; use Span.end, which has the same value")
    def last(self) -> int:
        """Deprecated; use `end`, which has the same value. It will be removed in the next version.

        In the JSON of `pavior sweep`, `last` is the index of the last replication itself.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Cancel:
    """A flag that asks another thread to stop `replicate`."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Requests cancellation."""
    @property
    def cancelled(self) -> bool:
        """True if cancellation has been requested."""

@final
class Journal:
    """The replications that are already known."""

    def __new__(cls) -> Self: ...
    def add(self, lines: bytes) -> int:
        """Adds lines from `replicate` and returns how many there were. If a line is incomplete, raises
        `ValueError` and adds nothing."""
    def __len__(self) -> int: ...

@final
class Progress:
    """The progress of a long call."""

    @property
    def done(self) -> int:
        """The number of items done: replications in a sweep, jobs in a run, or answers in a test."""
    @property
    def planned(self) -> int:
        """The total number of items, or 0 if unknown."""
    @property
    def points_done(self) -> int:
        """The number of points completed."""
    @property
    def points(self) -> int:
        """The number of points."""
    @property
    def seconds(self) -> float:
        """The time since the call began, in seconds."""

@final
class Specification:
    """An experiment: its points, and the rule that decides how many replications each point needs."""

    def __new__(
        cls,
        text: str,
        *,
        folder: str | os.PathLike[str] = "",
        name: str = "experiment",
        classes: Sequence[OwnClass] = (),
        logs: Mapping[str, Trace] = {},
    ) -> Self:
        """Reads an experiment from TOML. `folder` is the directory that contains its logs, `logs` maps names
        in the text to logs in memory, and `classes` are the caller's own strategies and schedulers. Raises
        `BadName` if the experiment cannot be read."""
    @property
    def text(self) -> str:
        """The text of the experiment file."""
    @property
    def name(self) -> str:
        """The experiment's name, which is used in files."""
    @property
    def folder(self) -> str:
        """The directory that contains the experiment's logs."""
    @property
    def classes(self) -> tuple[OwnClass, ...]:
        """The caller's own strategies and schedulers."""
    @property
    def logs(self) -> list[str]:
        """The names of the logs in memory."""
    @property
    def fingerprint(self) -> str:
        """A fingerprint. Experiments with equal fingerprints have interchangeable replications."""
    @property
    def skipped(self) -> list[dict[str, str]]:
        """The combinations that `skip_unsupported` left out, each with its `parameter`, `value`, `machine`
        and `reason`."""
    @property
    def points(self) -> list[dict[str, str]]:
        """The parameter values at each point."""
    def wanted(self, journal: Journal, *, without: Sequence[Span] = ()) -> list[Span]:
        """Returns the spans that still have to be run, except those in `without`, which are in progress. The
        list is empty when all are done. It depends only on the known replications."""
    def replicate(self, span: Span, *, cancelled: Cancel | None = None) -> bytes:
        """Runs the replications in a span and returns the lines for the journal. Except for measured times,
        the lines are the same on every worker and in every call."""
    def progress(self, journal: Journal, seconds: float) -> Progress:
        """Returns the progress of a sweep."""
    def results(self, journal: Journal) -> Results:
        """Computes the results. Raises `ValueError` if replications are missing."""

@final
class Results:
    """The results of an experiment. Use `pavior.Results` instead."""

    @property
    def means(self) -> Table:
        """A table of means, as in `results.csv`, with one row per point and metric."""
    @property
    def brief(self) -> Table:
        """A short form of `means` without constant columns: the parameters that vary, followed by the metrics
        that apply."""
    @property
    def replications(self) -> Table:
        """A table of samples with one row per replication. Each row contains the point, its parameter values,
        and every metric."""
    @property
    def differences(self) -> Table:
        """A table of paired differences from the baseline, as in `differences.csv`, with one row per point
        and metric."""
    def files(self) -> list[tuple[str, bytes]]:
        """Returns the names and contents of the files that the command line would write."""

@final
class Directory:
    """An experiment's directory, which the command line can also use."""

    def __new__(cls, path: str | os.PathLike[str], specification: Specification) -> Self: ...
    @property
    def journal(self) -> Journal:
        """The replications that were in the directory when it was opened."""
    def keep(self, lines: bytes) -> None:
        """Stores lines from `replicate`. The lines are durable when this method returns."""
    def finish(self, results: Results) -> None:
        """Writes the result files atomically."""
