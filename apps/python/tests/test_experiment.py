"""Tests that sweeps give the same bytes wherever and however often they run."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest

import pavior
from own import CornerFirst, Fails
from pavior import Experiment, Journal, Progress, Span
from test_simulate import interrupted

TEXT = """
machine = "mesh:8x8"
strategy = ["ff", "tff", "gabl"]
load = [1.0, 2.0]
jobs = 100
precision = 0.2
max-replications = 30
timing = false
"""


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return Experiment(TEXT).run(threads=1).files()


def test_results_do_not_depend_on_where_they_ran(files: dict[str, bytes]) -> None:
    experiment = Experiment(TEXT)
    assert experiment.run(threads=3, task_seconds=0.01).files() == files
    with ThreadPoolExecutor(2) as pool:
        assert experiment.run(on=pool, task_seconds=0.001).files() == files
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert experiment.run(on=processes, task_seconds=0.05).files() == files


def test_dask_gives_the_same_bytes(files: dict[str, bytes]) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert Experiment(TEXT).run(on=client, task_seconds=0.05).files() == files


def test_wanted_is_a_function_of_what_is_known(files: dict[str, bytes]) -> None:
    specification = pavior.Specification(TEXT)
    journal, kept = Journal(), []
    while spans := specification.wanted(journal):
        # The spans run in any order, one at a time, some of them twice.
        for span in reversed(spans):
            for replication in reversed(range(span.first, span.end)):
                lines = specification.replicate(Span(span.point, replication, replication + 1))
                kept.append(lines)
                assert journal.add(lines) == 1
        journal.add(kept[0])
    assert dict(specification.results(journal).files()) == files
    with pytest.raises(ValueError, match="still missing"):
        specification.results(Journal())
    with pytest.raises(ValueError):
        journal.add(kept[0][:-3])
    with pytest.raises(pavior.PaviorError, match="no point"):
        specification.replicate(Span(99, 0, 1))
    with pytest.raises(ValueError):
        Span(0, 1, 1)
    under_way = Span(0, 1, 3)
    wanted = specification.wanted(Journal(), without=[under_way])
    assert wanted[:2] == [Span(0, 0, 1), Span(0, 3, 5)]


def test_last_is_the_old_name_of_end_and_warns() -> None:
    span = Span(0, 1, 3)
    assert (span.first, span.end) == (1, 3)
    with pytest.warns(DeprecationWarning, match=r"use Span\.end"):
        assert span.last == 3
    with pytest.warns(DeprecationWarning, match=r"use Span\.end"):
        assert Span(0, 1, last=3) == span  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Span(0, 1)  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning), pytest.raises(TypeError, match="either end or last"):
        Span(0, 1, 2, last=3)  # type: ignore[call-arg]
    assert repr(span) == "Span(0, 1, 3)"
    assert pickle.loads(pickle.dumps(span)) == span


def test_a_directory_goes_on_where_it_was_interrupted(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    out, done = tmp_path / "out", []

    def report(progress: Progress) -> None:
        done.append(progress.done)
        if progress.done >= 10 and len(done) < 100:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Experiment(TEXT).run(out=out, task_seconds=0.001, progress=report)
    assert (out / "journal").exists() and not (out / "results.csv").exists()
    counts: list[int] = []
    Experiment(TEXT).run(out=out, progress=lambda progress: counts.append(progress.done))
    assert counts[0] > 10
    assert not (out / "journal").exists()
    for name, content in files.items():
        assert (out / name).read_bytes() == content, name
    # Nothing is run again in a finished experiment.
    again: list[int] = []
    Experiment(TEXT).run(out=out, progress=lambda progress: again.append(progress.done))
    assert not again
    with pytest.raises(pavior.PaviorError, match="another experiment"):
        Experiment(TEXT.replace("jobs = 100", "jobs = 101")).run(out=out)


def program() -> str:
    """Returns the path of the command line, if built alongside the package."""
    built = Path(__file__).parents[3] / "target/debug/pavior"
    path = os.environ.get("PAVIOR_PROGRAM") or str(built)
    if not Path(path).exists():
        pytest.skip("the command line is not built")
    return path


def test_the_command_line_and_the_package_write_the_same_bytes(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    (tmp_path / "experiment.toml").write_text(TEXT)
    assert Experiment(tmp_path / "experiment.toml", name="mine").name == "mine"
    experiment = [program(), "experiment", "experiment.toml", "--out"]
    subprocess.run([*experiment, "ours"], cwd=tmp_path, check=True, capture_output=True)
    for name, content in files.items():
        assert (tmp_path / "ours" / name).read_bytes() == content, name
    # Each interface can continue a run started by the other.
    again: list[int] = []
    Experiment(tmp_path / "experiment.toml").run(
        out=tmp_path / "ours", progress=lambda progress: again.append(progress.done)
    )
    assert not again

    def enough(progress: Progress) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        Experiment(TEXT).run(out=tmp_path / "begun", progress=enough)
    resumed = [*experiment, "begun", "--resume"]
    subprocess.run(resumed, cwd=tmp_path, check=True, capture_output=True)
    for name, content in files.items():
        assert (tmp_path / "begun" / name).read_bytes() == content, name


def test_a_directory_has_one_user(tmp_path: Path) -> None:
    script = (
        "import sys, pavior\n"
        "try: pavior.Experiment(sys.argv[1]).run(out=sys.argv[2])\n"
        "except pavior.PaviorError as error: print(error)\n"
    )
    said: list[str] = []

    def other(progress: Progress) -> None:
        if not said:
            call = [sys.executable, "-c", script, TEXT, str(tmp_path / "out")]
            said.append(subprocess.run(call, capture_output=True, text=True, check=True).stdout)

    Experiment(TEXT).run(out=tmp_path / "out", progress=other)
    assert "in use" in said[0]


def test_keyword_arguments_are_keys_of_the_file() -> None:
    experiment = Experiment(
        machine="mesh:8x8",
        strategy=["ff", "tbl"],
        load={"from": 1, "to": 2, "steps": 3},
        jobs=50,
        replications=2,
    )
    assert [point["load"] for point in experiment.points] == ["1", "1", "1.5", "1.5", "2", "2"]
    results = experiment.run()
    means = pl.DataFrame(results.means)
    assert set(means["strategy"]) == {"ff", "tbl"} and means["load"].dtype == pl.Float64
    assert len(results.replications) == 12
    differences = pl.DataFrame(results.differences)
    assert set(differences["strategy"]) == {"tbl"} and set(differences["baseline"]) == {"ff"}
    assert results._repr_html_().startswith("<p>Results of experiment: 12 replications of 6 points</p>")
    assert repr(results).startswith("<Results of experiment: 12 replications of 6 points>\n<Table with ")
    assert repr(experiment) == "<Experiment of 6 points: load 1, 1.5, 2; strategy ff, tbl>"
    assert "experiment.toml" in experiment._repr_html_() and "<pre>" in experiment._repr_html_()
    twin = pickle.loads(pickle.dumps(experiment))
    assert twin.fingerprint == experiment.fingerprint
    any_iterables = Experiment(strategy={CornerFirst}, load=(load for load in (1, 2)))
    assert repr(any_iterables) == "<Experiment of 2 points: load 1, 2>"
    with pytest.raises(pavior.BadName) as bad:
        Experiment(strategy=["ff", "tlb"])
    assert "tlb" in 'strategy = ["ff", "tlb"]\n'[slice(*bad.value.span)]
    with pytest.raises(TypeError):
        Experiment(load=object())
    with pytest.raises(TypeError, match="PEP 3148"):
        experiment.run(on=object())


def test_an_experiment_comes_from_keywords_a_file_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "turning.toml"
    path.write_text(TEXT)
    by_path = Experiment(path)
    assert by_path.name == "turning" and by_path.fingerprint == Experiment(str(path)).fingerprint
    assert by_path.points == Experiment(TEXT).points == Experiment(TEXT, name="other").points
    named = Experiment(name="a-run", machine=[(8, 8), "torus:4x4", 16], strategy="TFF", jobs=1e2, seed=None)
    assert named.name == "a-run" and 'name = "a-run"' in named.text
    assert [point["machine"] for point in named.points] == ["mesh:8x8", "torus:4x4", "mesh:16"]
    assert {point["strategy"] for point in named.points} == {"tff"}
    assert pickle.loads(pickle.dumps(named)).name == "a-run"
    assert Experiment(machine=(8, 8)).points[0]["machine"] == "mesh:8x8"
    assert len(pickle.loads(pickle.dumps(Experiment())).points) == len(Experiment().points) == 5
    with pytest.raises(TypeError, match="not both"):
        Experiment(TEXT, jobs=3)
    with pytest.raises(pavior.BadName, match="did you mean `strategy`"):
        Experiment(stratgy="ff")
    with pytest.warns(DeprecationWarning, match="Experiment"):
        assert Experiment.of(jobs=10, strategy="ff").points == Experiment(jobs=10, strategy="ff").points
    with pytest.warns(DeprecationWarning, match="Experiment"):
        assert Experiment.read(path).fingerprint == by_path.fingerprint


def test_progress_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    experiment = Experiment(machine="mesh:8x8", strategy=["ff", "tff"], jobs=50, replications=3)
    experiment.run()
    assert not capsys.readouterr().err
    experiment.run(progress=True)
    told = capsys.readouterr().err
    assert told.endswith("\n") and "100%  2 of 2 points, 6 of 6 replications" in told
    with pytest.raises(TypeError, match="progress"):
        experiment.run(progress=3)  # type: ignore[arg-type]


def test_charts_have_a_point_for_every_mean() -> None:
    pytest.importorskip("altair")
    results = Experiment(
        machine="mesh:8x8", strategy="ff", load=[1, 2], jobs=50, replications=3
    ).run()
    chart = results.chart("waiting").to_dict()
    assert len(chart["data"]["values"]) == 2
    with pytest.raises(KeyError):
        results.chart("nothing")


def test_classes_stand_among_strategies() -> None:
    experiment = Experiment(
        machine="mesh:6x6", strategy=["ff", CornerFirst], jobs=60, replications=2, timing=False
    )
    results = experiment.run()
    rows = pl.DataFrame(results.means).filter(pl.col("metric") == "turnaround")
    # The custom strategy makes the same choices as First Fit.
    assert rows["mean"][0] == rows["mean"][1]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert experiment.run(on=processes).files() == results.files()


def test_an_exception_of_a_strategy_is_raised() -> None:
    with pytest.raises(ZeroDivisionError, match="of its own"):
        Experiment(machine="mesh:6x6", strategy=Fails, jobs=10, replications=1).run()


def test_ctrl_c_ends_a_sweep_within_half_a_second(tmp_path: Path) -> None:
    experiment = Experiment(
        machine="mesh:64x64",
        strategy="gabl",
        load=5,
        jobs=5_000_000,
        max_waiting=10_000_000,
        replications=4,
    )
    assert interrupted(lambda: experiment.run(out=tmp_path / "out")) < 0.5


def test_an_experiment_replays_logs_in_memory(tmp_path: Path) -> None:
    def log(nodes: int) -> pavior.Trace:
        return pavior.Trace(pl.DataFrame({"submit": [0, 5], "run": [30, 30], "nodes": [nodes, 8]}))

    logs = [log(1), log(8)]
    experiment = Experiment(machine="mesh:4x2", strategy="ff", trace=logs, replications=1)
    assert len(experiment.run(threads=1).replications) == 2
    assert [point["trace"] for point in experiment.points] == ["table 1", "table 2"]
    other, third = [Experiment(machine="mesh:4x2", trace=log(nodes)) for nodes in (2, 3)]
    assert other.fingerprint != third.fingerprint
    with pytest.raises(ValueError, match="pass a path"):
        other.run(out=tmp_path / "out")
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        pickle.dumps(other)
