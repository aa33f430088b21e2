"""Tests that Python schedulers and priority functions give the same runs as Rust ones, and their errors."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pavior
from own import CornerFirst, InOrder, Smallest, shortest_demand
from pavior import Box, MachineView, Experiment, Job, Priority, Queue, Running, Scheduler, simulate
from test_simulate import interrupted

RUN: dict[str, Any] = {"load": 2.0, "jobs": 300, "timing": False}


def same(ours: pavior.Result, theirs: pavior.Result) -> bool:
    """Returns True if the same jobs ran at the same times in the same places after the same questions."""
    tables = pl.DataFrame(ours.jobs).equals(pl.DataFrame(theirs.jobs))
    return tables and pl.DataFrame(ours.metrics).equals(pl.DataFrame(theirs.metrics))


class Greedy(Scheduler):
    """Starts the oldest job that fits, like `scan-all`. Asks about equal requests once per state."""

    name = "greedy"

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
        refused = set()
        for index, job in enumerate(queue):
            if job.shape not in refused:
                if view.can_start(index):
                    return index
                refused.add(job.shape)
        return None


@pytest.mark.parametrize(
    ("machine", "extra"),
    [
        ("mesh:16x16", {}),
        ("torus:4x4x4", {"strategy": "gabl"}),
        ("mesh:8x8", {"mttf": 3000, "mttr": 10}),
        ("torus:8x8", {"service": "messages:3", "load": 0.01, "jobs": 40}),
    ],
)
def test_the_schedulers_of_rust_in_python(machine: str, extra: dict[str, Any]) -> None:
    arguments = RUN | extra
    for ours, theirs in [
        (InOrder, "fcfs"),
        (lambda job: 0.0, "fcfs"),
        (shortest_demand, "ssd"),
        (lambda job: -job.nodes, "ljf"),
    ]:
        own = simulate(machine, scheduler=ours, **arguments)
        assert same(own, simulate(machine, scheduler=theirs, **arguments)), theirs
    own, rust = (simulate(machine, scheduler=one, **arguments) for one in (Greedy, "scan-all"))
    assert pl.DataFrame(own.jobs).equals(pl.DataFrame(rust.jobs))


def test_a_strategy_and_a_scheduler_of_ones_own() -> None:
    own = simulate("mesh:6x6", CornerFirst, InOrder, **RUN)
    assert same(own, simulate("mesh:6x6", "ff", "fcfs", **RUN))
    assert "under corner-first and in-order" in repr(own)


class Looks(Scheduler):
    """An FCFS scheduler that also reads all of its arguments."""

    name = "looks"
    seen: list[Any] = []

    def __init__(self) -> None:
        self.last = -1.0

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
        assert now >= self.last
        self.last = now
        jobs = list(queue)
        assert len(jobs) == len(queue) > 0 and queue[-1].id == jobs[-1].id == queue[len(queue) - 1].id
        with pytest.raises(IndexError):
            queue[len(queue)]
        with pytest.raises(IndexError):
            view.can_start(-len(queue) - 1)
        assert [job.id for job in jobs] == queue.table()["id"] == sorted(job.id for job in jobs)
        head = jobs[0]
        assert head.submit <= now and head.start is None and head.estimated_end is None
        assert head.shape is not None and head.nodes == np.prod(head.shape)
        assert len(head.shape) == len(view.shape) == 2 and head.job == head.id
        started = list(running)
        assert len(started) == len(running) == len(running.table())
        table = running.table()
        assert table.columns[-2:] == ["start", "estimated_end"]
        assert [row["start"] for row in table] == table["start"]
        assert all(list(row) == table.columns for row in table)
        ends = [job.estimated_end for job in started if job.estimated_end is not None]
        assert ends == sorted(ends) == running.table()["estimated_end"]
        held = [view.boxes(job.id) for job in started]
        assert sum(box.nodes() for boxes in held if boxes for box in boxes) == 64 - view.free
        assert view.boxes(10**9) is None and view.machine == "mesh:8x8"
        assert view.occupancy().sum() == view.free
        twin = view.fork()
        assert list(twin.jobs) == sorted(
            (job.id for job in started), key=lambda id: list(twin.jobs).index(id)
        )
        reason = view.refusal(0)
        assert (twin.try_allocate(head.shape) == reason) == (reason is not None)
        if started:
            assert running[0].id == started[0].id and running[-1].start is not None
            twin.release(started[0].id)
        self.seen[:] = [queue, running, view, head]
        return 0 if reason is None else None


def test_what_a_scheduler_sees() -> None:
    own = simulate("mesh:8x8", "ff", Looks, load=1.5, jobs=120, timing=False)
    rust = simulate("mesh:8x8", "ff", "fcfs", load=1.5, jobs=120, timing=False)
    assert pl.DataFrame(own.jobs).equals(pl.DataFrame(rust.jobs))
    queue, running, view, head = Looks.seen
    assert head.nodes > 0
    for late in (
        lambda: len(queue),
        lambda: queue[0],
        lambda: list(queue),
        lambda: len(running),
        lambda: list(running),
        lambda: view.can_start(0),
        lambda: view.fork(),
    ):
        with pytest.raises(pavior.Broken, match="only inside `next`"):
            late()


class LastCorner(Scheduler):
    """Places the oldest job in the last corner, if that is free."""

    name = "last-corner"

    def next(
        self, now: float, queue: Queue, running: Running, view: MachineView
    ) -> tuple[int, Box] | None:
        shape = queue[0].shape
        assert shape is not None
        base = tuple(8 - side for side in shape)
        free = view.occupancy()[base[1] :, base[0] :]
        return (0, Box(base, shape)) if free.all() else None


def test_a_scheduler_may_say_where() -> None:
    jobs = pl.DataFrame(simulate("mesh:8x8", "ff", LastCorner, load=0.5, jobs=50).placements)
    assert (jobs["base_x"] + jobs["side_x"] == 8).all()
    assert (jobs["base_y"] + jobs["side_y"] == 8).all()


class Answers(Scheduler):
    """Returns a fixed answer from the tenth question on."""

    name = "answers"
    answer: Any = None

    def __init__(self) -> None:
        self.questions = 0

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> Any:
        self.questions += 1
        if self.questions >= 10:
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer
        return 0 if view.can_start(0) else None


@pytest.mark.parametrize(
    ("answer", "raised", "says"),
    [
        (-1, pavior.Broken, "not -1"),
        (10**30, pavior.Broken, "not 1000"),
        (True, pavior.Broken, "not True"),
        (1.0, pavior.Broken, "not 1.0"),
        ("0", pavior.Broken, "not '0'"),
        ((0,), pavior.Broken, "an index and boxes"),
        ((0, 3), pavior.Broken, "an index and boxes"),
        ((0, Box((7, 7), (8, 8))), pavior.Broken, "cannot use"),
        ((0, Box((0, 0), (1, 1))), pavior.Broken, "was started on 1"),
        ((0, Box((0, 0, 0), (1, 1, 1))), ValueError, "mesh:8x8"),
        ((0, []), pavior.Broken, "was started on 0"),
        (10_000, pavior.Broken, "queue index 10000 is out of range"),
        (ZeroDivisionError("of its own"), ZeroDivisionError, "of its own"),
        (SystemExit(3), SystemExit, "3"),
    ],
)
def test_wrong_answers_stop_the_run(answer: Any, raised: type[BaseException], says: str) -> None:
    own = type("Answers", (Answers,), {"answer": answer})
    for run in (
        lambda: simulate("mesh:8x8", "ff", own, load=2, jobs=100),
        lambda: Experiment(
            machine="mesh:8x8", strategy="ff", scheduler=own, load=2, jobs=100, replications=2
        ).run(),
    ):
        with pytest.raises(raised) as error:
            run()
        assert says in str(error.value)


def test_a_job_that_does_not_fit_is_not_started() -> None:
    class Blind(Scheduler):
        name = "blind"

        def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int:
            return 0

    with pytest.raises(pavior.Broken, match="does not currently fit"):
        simulate("mesh:8x8", "ff", Blind, load=5, jobs=100)


def test_keys_that_are_none() -> None:
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda job: float("nan"), pavior.Broken, "is NaN"),
        (lambda job: "small", TypeError, ""),
        (lambda job: 1 / 0, ZeroDivisionError, ""),
        (3, TypeError, "a scheduler must be a name"),
        (dict, TypeError, "a scheduler must be a name"),
        (Priority, NotImplementedError, ""),
        (Scheduler, NotImplementedError, ""),
        (type("Taken", (Scheduler,), {"name": "fcfs"}), ValueError, "fcfs"),
        # A strategy is not a scheduler, and vice versa.
        (CornerFirst, TypeError, "a scheduler must be a name"),
    ]
    for scheduler, raised, says in wrong:
        with pytest.raises(raised, match=says or None):
            simulate(scheduler=scheduler)
    with pytest.raises(TypeError, match="a strategy must be a name"):
        simulate(strategy=InOrder)  # type: ignore[arg-type]
    no_classes: list[Any] = ["easy", CornerFirst("mesh:8x8", 1)]
    for own in no_classes:
        with pytest.raises(TypeError, match="each of `classes` must be a subclass of Strategy"):
            pavior.Specification("", classes=[own])


def test_each_job_is_given_a_key_once() -> None:
    jobs: list[int] = []

    def count(job: Job) -> float:
        jobs.append(job.id)
        return -job.submit

    result = simulate("mesh:8x8", "ff", count, **RUN)
    assert jobs == sorted(set(jobs)) and len(jobs) == len(result.jobs)


def test_sweeps_of_ones_own() -> None:
    experiment = Experiment(
        machine="mesh:6x6",
        strategy=["ff", CornerFirst],
        scheduler=["fcfs", InOrder, Smallest, "ssd", shortest_demand],
        jobs=60,
        replications=3,
        timing=False,
    )
    results = experiment.run(threads=2)
    means = pl.DataFrame(results.means).filter(pl.col("metric") == "turnaround")
    mean = {(row["strategy"], row["scheduler"]): row["mean"] for row in means.rows(named=True)}
    for strategy in ("ff", "corner-first"):
        assert mean[strategy, "in-order"] == mean["ff", "fcfs"]
        assert mean[strategy, "shortest-demand"] == mean["ff", "ssd"] != mean["ff", "fcfs"]
        assert mean[strategy, "smallest"] < mean["ff", "fcfs"]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert experiment.run(on=processes).files() == results.files()


def test_what_other_processes_cannot_import(tmp_path: Path) -> None:
    experiment = Experiment(scheduler=lambda job: job.nodes, jobs=20, replications=1)
    assert experiment.points[0]["scheduler"] == "priority"
    experiment.run()
    with pytest.raises(ValueError, match="define this one with def"):
        experiment.run(out=tmp_path / "out")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        with pytest.raises(Exception, match="pickle"):
            experiment.run(on=processes)
    with pytest.raises(ValueError, match="priority"):
        Experiment(scheduler=[lambda job: 0.0, lambda job: 1.0])


def test_one_unit_of_time() -> None:
    with pytest.raises(ValueError, match="only one time unit"):
        Experiment(scheduler=InOrder, service=["exponential", "messages:2"], jobs=10)


def test_ctrl_c_ends_a_scheduler_within_half_a_second() -> None:
    assert interrupted(lambda: simulate("mesh:8x8", "ff", InOrder, load=0.9, jobs=10**8)) < 0.5

    class Forever(Scheduler):
        name = "forever"

        def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
            while True:
                time.sleep(0.001)

    assert interrupted(lambda: simulate(scheduler=Forever)) < 0.5


ENDLESS = """
import os
import signal
import pavior

# In a shell's background job, the signal is initially ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Endless(pavior.Scheduler):
    name = "endless"

    def next(self, now, queue, running, view):
        # The text is written in one piece, because the other thread also writes.
        os.write(1, b"asked\\n")
        while True:
            pass

pavior.Experiment(scheduler=Endless, replications=4).run(threads=2)
"""


def test_ctrl_c_leaves_no_thread_in_a_loop_without_end() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "asked\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors
