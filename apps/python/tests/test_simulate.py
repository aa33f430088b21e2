"""One run, as tables."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import pavior
from pavior import Trace, simulate


def test_a_run_is_what_its_arguments_say() -> None:
    first = simulate("mesh:16x16", "tbl", "easy", load=1.5, jobs=300)
    again = simulate("mesh:16x16", "tbl", "easy", load=1.5, jobs=300)
    assert pl.DataFrame(first.jobs).equals(pl.DataFrame(again.jobs))
    other = simulate("mesh:16x16", "tbl", "easy", load=1.5, jobs=300, replication=1)
    assert first["turnaround"] != other["turnaround"]
    assert first.unit == first.jobs.unit == "time_unit"


def test_metrics_follow_from_the_jobs() -> None:
    result = simulate("mesh:8x8", "ff", load=1.0, jobs=400, timing=False)
    jobs = pl.DataFrame(result.jobs)
    departed = jobs.filter(pl.col("fate") == "departed")
    assert len(departed) >= 400
    turnaround = (departed["end"] - departed["submit"]).mean()
    assert result["turnaround"] == pytest.approx(turnaround)
    assert result["allocation_ns"] is None if "allocation_ns" in result.metrics["metric"] else True
    with pytest.raises(KeyError, match="turnaround"):
        result["turn"]


def test_no_two_jobs_hold_a_node_at_once() -> None:
    result = simulate("torus:8x8", "gabl", load=2.0, jobs=200)
    rows = pl.DataFrame(result.placements).rows(named=True)
    events = sorted(
        [(row["end"], 0, row) for row in rows if row["end"] is not None]
        + [(row["start"], 1, row) for row in rows],
        key=lambda event: event[:2],
    )
    busy = np.zeros((8, 8), dtype=int)
    steps = dict(zip(*(result.steps("busy")[name] for name in ("time", "value")), strict=True))
    for index, (at, starts, row) in enumerate(events):
        xs = (row["base_x"] + np.arange(row["side_x"])) % 8
        ys = (row["base_y"] + np.arange(row["side_y"])) % 8
        busy[np.ix_(ys, xs)] += 1 if starts else -1
        assert busy.min() >= 0 and busy.max() <= 1
        last = index + 1 == len(events) or events[index + 1][0] > at
        if last and at in steps:
            assert steps[at] == busy.sum()
    queue, largest = result.steps("queue"), result.steps("largest_free")
    assert min(queue["value"]) == 0 and max(largest["value"]) == 64


def test_logs_come_from_any_arrow_table() -> None:
    rows = {"submit": [5.5, 0.0, 1.0], "run": [3, 10, 20], "nodes": [16, 4, 300]}
    expected = None
    for table in (pl.DataFrame(rows), pa.table(rows), pl.DataFrame(rows).to_pandas()):
        trace = Trace.from_arrow(table)
        assert len(trace) == 3 and trace.jobs["submit"] == [0.0, 1.0, 5.5]
        result = simulate("torus:16x16", trace=trace)
        assert result.jobs["fate"] == ["departed", "rejected", "departed"]
        assert result.jobs["reason"] == [None, "larger-than-machine", None]
        # pandas reads no dictionary in which a word stands twice.
        assert result.jobs.to_pandas()["fate"].tolist() == ["departed", "rejected", "departed"]
        assert result.unit == "s" and result.end == 10.0
        frame = pl.DataFrame(result.jobs)
        assert expected is None or frame.equals(expected)
        expected = frame
    again = Trace.from_arrow(trace.jobs)
    assert pl.DataFrame(again.jobs).equals(pl.DataFrame(trace.jobs))


def test_a_column_says_how_free_jobs_are() -> None:
    # By itself `mbs` grants six nodes as squares of nodes, not as one box.
    rows = {"submit": [0, 1, 2], "run": [1, 1, 1], "nodes": [6, 6, 6]}
    words = [None, "box", "any"]
    for column in (words, pa.array(words, pa.large_string()), pa.array(words).dictionary_encode()):
        trace = Trace.from_arrow(pa.table(rows | {"freedom": column}))
        assert trace.jobs["freedom"] == words
        boxes = simulate("mesh:4x4", "mbs", trace=trace).jobs["boxes"]
        assert [len(of_job) == 1 for of_job in boxes] == [False, True, False]
        over = simulate("mesh:4x4", "mbs", trace=trace, freedom="box:queue=1,turned:6").jobs
        assert [len(of_job) for of_job in over["boxes"]] == [1, 1, 1]
    assert pl.DataFrame(Trace.from_arrow(trace.jobs).jobs).equals(pl.DataFrame(trace.jobs))


def test_logs_come_from_files(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    line = "{} {} 0 {} {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1\n"
    log.write_text("".join(line.format(j + 1, 10 * j, 60, 4, 4, 90) for j in range(20)))
    trace = Trace.read(log, first=10)
    assert len(trace) == 10
    by_path = simulate("mesh:4x4", trace=log, first=10)
    assert pl.DataFrame(by_path.jobs).equals(pl.DataFrame(simulate("mesh:4x4", trace=trace).jobs))
    with pytest.raises(pavior.PaviorError, match=r"log\.swf"):
        log.write_text("nonsense\n")
        Trace.read(log)
    with pytest.raises(pavior.PaviorError, match="nowhere"):
        simulate(trace=tmp_path / "nowhere.swf")


@pytest.mark.parametrize(
    "rows",
    [
        {"submit": [0.0], "run": [1]},
        {"submit": [None], "run": [1], "nodes": [1]},
        {"submit": [0.0], "run": [-1], "nodes": [1]},
        {"submit": [float("nan")], "run": [1], "nodes": [1]},
        {"submit": [0.0], "run": [1], "nodes": [0]},
        {"submit": [0.0], "run": [1], "nodes": [1.5]},
        {"submit": [0.0], "run": [1], "nodes": [2**40]},
        {"submit": ["a"], "run": [1], "nodes": [1]},
        {"submit": [0.0], "run": [1], "nodes": [2], "x": [3]},
        {"submit": [0.0], "run": [1], "nodes": [2], "x": [0], "y": [2]},
        {"submit": [0.0], "run": [1], "nodes": [1], "job": [-1]},
        {"submit": [0.0], "run": [1], "nodes": [1], "freedom": ["conected"]},
        {"submit": [0.0], "run": [1], "nodes": [1], "freedom": [2]},
        {"submit": [], "run": [], "nodes": []},
    ],
)
def test_rows_that_make_no_sense(rows: dict[str, list[object]]) -> None:
    with pytest.raises(ValueError):
        Trace.from_arrow(pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("arguments", "at_fault"),
    [
        ({"strategy": "tbll"}, "tbll"),
        ({"laod": 2}, "laod"),
        ({"load": "x"}, "x"),
        ({"machine": "mesh:0x4"}, "0"),
        ({"shape_rule": "cubes"}, "cubes"),
    ],
)
def test_names_that_cannot_be_read(arguments: dict[str, object], at_fault: str) -> None:
    with pytest.raises(pavior.BadName) as bad:
        simulate(**arguments)  # type: ignore[arg-type]
    text = next(iter(arguments.values()))
    whole = text if isinstance(text, str) else next(iter(arguments))
    assert at_fault in whole[slice(*bad.value.span)]


def test_one_combination_only() -> None:
    with pytest.raises(ValueError, match="Experiment"):
        simulate(load=["1", "2"])
    with pytest.raises(TypeError):
        Trace.from_arrow([1, 2])  # type: ignore[arg-type]


def test_tables_are_handed_over_without_a_copy() -> None:
    jobs = simulate(jobs=50).jobs
    arrow = pa.table(jobs).column("submit").chunk(0).buffers()[1].address
    polars = pl.DataFrame(jobs)["submit"].to_arrow().buffers()[1].address
    assert arrow == polars
    assert pa.table(jobs).schema.metadata == {b"unit": b"time_unit"}


def interrupted(call: Callable[[], object], after: float = 0.3) -> float:
    """The seconds from Ctrl-C to the exception."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    # A shell's background job begins with the signal ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.monotonic() - pressed[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)


def test_ctrl_c_ends_a_run_within_half_a_second() -> None:
    assert interrupted(lambda: simulate("mesh:64x64", "gabl", load=5, jobs=10_000_000)) < 0.5


def test_threads_run_while_one_simulates() -> None:
    done = threading.Event()
    count = 0

    def run() -> None:
        simulate("mesh:32x32", "gabl", load=3, jobs=20_000)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.wait(0.001):
        count += 1
    thread.join()
    assert count > 5
