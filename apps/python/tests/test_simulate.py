"""Tests single runs and their tables."""

from __future__ import annotations

import errno
import inspect
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
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
        trace = Trace(table)
        assert len(trace) == 3 and trace.jobs["submit"] == [0.0, 1.0, 5.5]
        result = simulate("torus:16x16", trace=trace)
        assert result.jobs["fate"] == ["departed", "rejected", "departed"]
        assert result.jobs["reason"] == [None, "larger-than-machine", None]
        # pandas cannot read a dictionary in which a word appears twice.
        assert result.jobs.to_pandas()["fate"].tolist() == ["departed", "rejected", "departed"]
        assert result.unit == "s" and result.end == 10.0
        frame = pl.DataFrame(result.jobs)
        assert expected is None or frame.equals(expected)
        expected = frame
    again = Trace(trace.jobs)
    assert pl.DataFrame(again.jobs).equals(pl.DataFrame(trace.jobs))


def test_a_column_says_how_free_jobs_are() -> None:
    # On its own, `mbs` grants six nodes as squares, not as one box.
    rows = {"submit": [0, 1, 2], "run": [1, 1, 1], "nodes": [6, 6, 6]}
    words = [None, "box", "any"]
    for column in (words, pa.array(words, pa.large_string()), pa.array(words).dictionary_encode()):
        trace = Trace(pa.table(rows | {"freedom": column}))
        assert trace.jobs["freedom"] == words
        boxes = simulate("mesh:4x4", "mbs", trace=trace).jobs["boxes"]
        assert [len(of_job) == 1 for of_job in boxes] == [False, True, False]
        over = simulate("mesh:4x4", "mbs", trace=trace, freedom="box:queue=1,turned:6").jobs
        assert [len(of_job) for of_job in over["boxes"]] == [1, 1, 1]
    assert pl.DataFrame(Trace(trace.jobs).jobs).equals(pl.DataFrame(trace.jobs))


def test_logs_come_from_files(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    line = "{} {} 0 {} {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1\n"
    log.write_text("".join(line.format(j + 1, 10 * j, 60, 4, 4, 90) for j in range(20)))
    trace = Trace(log, first=10)
    assert len(trace) == 10
    by_path = simulate("mesh:4x4", trace=log, first=10)
    assert pl.DataFrame(by_path.jobs).equals(pl.DataFrame(simulate("mesh:4x4", trace=trace).jobs))
    log.write_text("nonsense\n")
    for call in (Trace, lambda log: simulate(trace=log)):
        with pytest.raises(ValueError, match=r"log\.swf:1"):
            call(log)


def test_what_the_system_says_of_a_file_is_raised_as_python_has_it(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.swf"
    calls: list[Callable[[], object]] = [
        lambda: Trace(nowhere),
        lambda: Trace(str(nowhere)),
        lambda: simulate(trace=nowhere),
        lambda: simulate(trace=str(nowhere)),
        lambda: simulate(failures=str(nowhere)),
        lambda: simulate(reservations=str(nowhere)),
        lambda: pavior.Experiment(trace=nowhere, machine="mesh:4x4").run(),
        lambda: pavior.Experiment(tmp_path / "nowhere.toml"),
        lambda: pavior.Experiment("nowhere.toml"),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as missing:
            call()
        assert missing.value.errno == errno.ENOENT
        assert "nowhere" in str(missing.value.filename)
    long = tmp_path / ("é\n" + "x" * 200 + ".swf")
    with pytest.raises(FileNotFoundError) as missing:
        Trace(long)
    assert missing.value.filename == str(long)
    (tmp_path / "folder.swf").mkdir()
    with pytest.raises(IsADirectoryError):
        Trace(tmp_path / "folder.swf")
    (tmp_path / "log.txt").write_text("hello\n")
    with pytest.raises(ValueError, match="cannot detect the log's format from its contents or name"):
        Trace(tmp_path / "log.txt")
    (tmp_path / "plain").write_text("")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        pavior.Experiment(jobs=10, replications=1).run(out=tmp_path / "plain" / "out")


def test_times_of_a_table_may_be_timestamps() -> None:
    start = datetime(2026, 1, 2, 3, tzinfo=UTC)
    rows = {
        "submit": [start, start + timedelta(minutes=5)],
        "run": [timedelta(hours=1), timedelta(seconds=90)],
        "nodes": [4, 8],
    }
    seconds = {"submit": [start.timestamp(), start.timestamp() + 300], "run": [3600, 90], "nodes": [4, 8]}
    expected = Trace(pl.DataFrame(seconds))
    for table in (pl.DataFrame(rows), pa.table(rows), pl.DataFrame(rows).to_pandas()):
        trace = Trace(table)
        assert trace.jobs["submit"] == expected.jobs["submit"]
        assert trace.jobs["run"] == [3600.0, 90.0]
    killed = simulate("mesh:4x4", trace=trace, mttf=timedelta(days=30), mttr=timedelta(hours=1))
    assert killed.jobs["start"] == simulate("mesh:4x4", trace=trace, mttf=2_592_000, mttr=3600).jobs["start"]
    # A replay with messages has another time unit, which is also in seconds.
    simulate("mesh:4x4", trace=trace, communication=0.5, cycles_per_second=10, max_time=timedelta(days=1))
    month = timedelta(days=30)
    for mttf in (month, [month], np.timedelta64(30, "D")):
        with pytest.raises(ValueError, match="abstract time units"):
            simulate("mesh:4x4", jobs=10, mttf=mttf, mttr=1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="abstract time units"):
            pavior.Experiment(machine="mesh:4x4", jobs=10, mttf=mttf, mttr=1)  # type: ignore[arg-type]
    pavior.Experiment(machine="mesh:4x4", trace=trace, mttf=[month, 1e9], mttr=1)
    with pytest.raises(TypeError, match="load"):
        simulate("mesh:4x4", load=timedelta(days=1))  # type: ignore[arg-type]


def test_old_names_of_logs_warn(tmp_path: Path) -> None:
    table = pl.DataFrame({"submit": [0.0], "run": [1], "nodes": [1]})
    with pytest.warns(DeprecationWarning, match="Trace"):
        assert len(Trace.from_arrow(table)) == 1
    (tmp_path / "log.swf").write_text("1 0 0 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.warns(DeprecationWarning, match="Trace"):
        assert len(Trace.read(tmp_path / "log.swf")) == 1
    with pytest.raises(ValueError, match="for a table, select its rows beforehand"):
        Trace(table, first=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="lenint"):
        Trace(table, lenint=False)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a path or an Arrow table"):
        Trace(7)  # type: ignore[call-overload]


def test_users_may_be_text() -> None:
    rows = {"submit": [0, 1, 2, 3], "run": [1] * 4, "nodes": [1] * 4, "user": ["bob", "ann", None, "bob"]}
    trace = Trace(pl.DataFrame(rows | {"partition": ["gpu", "cpu", "gpu", "cpu"]}))
    jobs = pl.DataFrame(trace.jobs)
    assert Trace(pl.DataFrame(rows | {"user": [1, 2, -1, 1]})).jobs["user"] == [1, 2, None, 1]
    assert jobs["user"].to_list() == [1, 2, None, 1]
    assert jobs["partition"].to_list() == [1, 2, 1, 2]
    run = simulate("mesh:4x4", "ff", trace=trace, freedom="any:user=ann")
    assert len(run.jobs["job"]) == 4
    with pytest.raises(ValueError, match="the log has no user `eve`, only bob, ann"):
        simulate("mesh:4x4", "ff", trace=trace, freedom="any:user=eve")


def test_a_column_may_be_null() -> None:
    rows: dict[str, list[int | None]] = {"submit": [0, 1], "run": [1, 1], "nodes": [6, 6]}
    null = dict.fromkeys(["estimate", "job", "x", "y", "z", "user"], [None, None])
    null["freedom"] = null["comment"] = [None, None]
    expected = pl.DataFrame(Trace(pl.DataFrame(rows)).jobs)
    for table in (pa.table(rows | null), pl.DataFrame(rows | null)):
        assert pl.DataFrame(Trace(table).jobs).equals(expected)
    with pytest.raises(ValueError, match="must contain numbers or text, not Boolean"):
        Trace(pl.DataFrame(rows | {"user": [True, False]}))


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
        {"submit": [0.0], "run": [1], "nodes": [2], "y": [2]},
        {"submit": [0.0, 1.0], "run": [1, 1], "nodes": [2, 2], "x": [2, None], "z": [1, 2]},
        {"submit": [0.0], "run": [1], "nodes": [6], "x": [2], "y": [None], "z": [3]},
        {"submit": [0.0], "run": [1], "nodes": [1], "job": [-1]},
        {"submit": [0.0], "run": [1], "nodes": [1], "user": [float("nan")]},
        {"submit": [0.0], "run": [1], "nodes": [1], "queue": [-2]},
        {"submit": [0.0], "run": [1], "nodes": [1], "partition": [2**60]},
        {"submit": [0.0], "run": [1], "nodes": [1], "freedom": ["conected"]},
        {"submit": [0.0], "run": [1], "nodes": [1], "freedom": [2]},
        {"submit": [], "run": [], "nodes": []},
    ],
)
def test_rows_that_make_no_sense(rows: dict[str, list[object]]) -> None:
    with pytest.raises(ValueError):
        Trace(pl.DataFrame(rows))


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
    several: list[dict[str, object]] = [
        {"load": ["1", "2"]},
        {"strategy": ["ff", "tff"]},
        {"scheduler": ("fcfs", "easy")},
        {"machine": ["mesh:4x4", "torus:4x4"]},
        {"load": np.array([1.0, 2.0])},
        {"load": {"from": 1, "to": 2, "steps": 3}},
    ]
    for arguments in several:
        (key,) = arguments
        with pytest.raises(ValueError, match=rf"^{key} .*Experiment\({key}="):
            simulate(**arguments)  # type: ignore[arg-type]
    assert simulate(strategy=["ff"], jobs=[10]).jobs["fate"]  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path or an Arrow table"):
        Trace([1, 2])  # type: ignore[call-overload]


def test_calls_as_people_type_them() -> None:
    expected = simulate("mesh:8x8", "tff", "easy", jobs=50, load=2.0).jobs["start"]
    same: list[dict[str, object]] = [
        {"machine": (8, 8)},
        {"machine": [8, 8]},
        {"machine": np.array([8, 8])},
        {"machine": "Mesh:8X8"},
        {"strategy": "TFF"},
        {"scheduler": "Easy"},
        {"jobs": 5e1},
        {"jobs": np.int64(50)},
        {"load": 2},
        {"load": "2"},
        {"load": np.float32(2)},
        {"seed": None},
        {"timing": np.bool_(False)},
        {"replication": np.uint8(0)},
        {"replication": 0.0},
    ]
    usual: dict[str, object] = {"machine": "mesh:8x8", "strategy": "tff", "scheduler": "easy", "jobs": 50, "load": 2}
    for arguments in same:
        assert simulate(**usual | arguments).jobs["start"] == expected, arguments  # type: ignore[arg-type]
    assert simulate(64, "ff", jobs=5).jobs["fate"]
    for name, suggested in [("tfff", "tff"), ("First-Fit", "ff"), ("first fit", "ff"), ("TBLL", "tbl")]:
        with pytest.raises(pavior.BadName, match=f"did you mean `{suggested}`"):
            simulate(strategy=name)
    with pytest.raises(pavior.BadName, match="did you mean `routing_delay`"):
        simulate(routing_dely=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"machine": 1.5}, TypeError, "torus:8x8x8"),
        ({"machine": (8, 8, 8, 8)}, ValueError, "ax"),
        ({"machine": (0, 8)}, ValueError, "side"),
        ({"strategy": object}, TypeError, "subclass of Strategy"),
        ({"strategy": len}, TypeError, "subclass of Strategy"),
        ({"scheduler": 3}, TypeError, "function that takes a job"),
        ({"trace": 3}, TypeError, "path or a Trace"),
        ({"load": object()}, TypeError, "load"),
        ({"load": float("nan")}, ValueError, "load"),
        ({"jobs": 2.5}, ValueError, "jobs"),
        ({"jobs": -1}, ValueError, "jobs"),
        ({"replication": -1}, ValueError, "whole number"),
        ({"replication": "1"}, TypeError, "whole number"),
        ({"replications": 3}, ValueError, "Experiment"),
        ({"precision": 0.1}, ValueError, "Experiment"),
        ({"progress": 3}, TypeError, "progress"),
        ({"request": "3x2"}, ValueError, "snapshot"),
        ({"trace": "x.swf", "load": 2}, ValueError, "load"),
    ],
)
def test_arguments_that_make_no_sense(
    arguments: dict[str, object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words) as raised:
        simulate(**arguments)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


def test_help_lists_every_parameter_with_its_type_and_default() -> None:
    listed = Path(__file__).parents[3] / "docs/parameters.md"
    table = re.findall(r"^\| `([a-z-]+)`.*\| ([a-z ]+) \|$", listed.read_text(), re.MULTILINE)
    names = {name.replace("-", "_") for name, what in table if what not in ("snapshots", "the whole experiment")}
    signature = inspect.signature(simulate)
    names = names - {"placed"} | {"metrics", "timing", "replication", "progress"}
    assert names == set(signature.parameters)
    assert signature.parameters["load"].default == 1.5
    assert signature.parameters["jobs"].default == 1000
    assert signature.parameters["strategy"].default == "tff"
    told = inspect.getdoc(simulate) or ""
    entries = dict(re.findall(r"^    (\w+): ((?:.+\n)(?:        .*\n)+)", told + "\n", re.MULTILINE))
    assert set(entries) == set(signature.parameters)
    for name, entry in entries.items():
        kind, default = re.fullmatch(r".*?\n        \((.+);\s+default\s+(.+)\)\n", entry, re.DOTALL).groups()  # type: ignore[union-attr]
        assert kind and default == repr(signature.parameters[name].default), name
    assert "        (float, in jobs per unit of time; default 1.5)" in entries["load"]


def test_results_and_logs_show_themselves() -> None:
    result = simulate("mesh:8x8", "tff", jobs=50, timing=False)
    assert repr(result).startswith("<Results for ") and "departed" in repr(result)
    assert "turnaround" in repr(result) and "time_unit" in repr(result)
    assert re.search(r"<td[^>]*>turnaround</td>", result._repr_html_())
    assert "… " in repr(result.jobs) and f"Table with {len(result.jobs)} rows" in repr(result.jobs)
    assert result.jobs._repr_html_().count("<tr>") > 20
    trace = Trace(pl.DataFrame({"submit": [0, 86400], "run": [1, 1], "nodes": [1, 2]}))
    assert repr(trace) == "<Trace of 2 jobs with 1 to 2 nodes, submitted over 1 days>"
    assert trace._repr_html_().count("<tr>") == 3


def test_progress_is_told_and_what_it_raises_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[pavior.Progress] = []
    simulate("mesh:32x32", "gabl", load=3, jobs=400_000, timing=False, progress=seen.append)
    assert len(seen) >= 2 and seen[-1].done >= seen[-1].planned == seen[-1].done
    assert all(one.planned == 400_000 for one in seen[:-1])
    assert [one.done for one in seen] == sorted(one.done for one in seen)

    def enough(progress: pavior.Progress) -> None:
        raise ZeroDivisionError("of its own")

    begin = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="of its own"):
        simulate("mesh:64x64", "gabl", load=5, jobs=10_000_000, progress=enough)
    assert time.monotonic() - begin < 5
    simulate("mesh:8x8", jobs=50, progress=True)
    told = capsys.readouterr().err
    assert told.endswith("\n") and "100%" in told and "jobs" in told
    simulate("mesh:8x8", jobs=50)
    assert not capsys.readouterr().err


def test_tables_are_handed_over_without_a_copy() -> None:
    jobs = simulate(jobs=50).jobs
    arrow = pa.table(jobs).column("submit").chunk(0).buffers()[1].address
    polars = pl.DataFrame(jobs)["submit"].to_arrow().buffers()[1].address
    assert arrow == polars
    assert pa.table(jobs).schema.metadata == {b"unit": b"time_unit"}


def interrupted(call: Callable[[], object], after: float = 0.3) -> float:
    """Returns the seconds from Ctrl-C to the exception."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    # In a shell's background job, the signal is initially ignored.
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
