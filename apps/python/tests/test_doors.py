"""Tests that the command line and the package, which share an engine, give the same output."""

from __future__ import annotations

import json
import pydoc
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import mypy.api
import pytest

from pavior import Experiment, PaviorError, simulate
from pavior._parameters import Parameters
from test_experiment import program

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(ROOT.glob("examples/*.toml"))

LOG = "".join(
    f"{job} {13 * job} 0 {5 + 37 * job % 90} {1 + job * job % 14} -1 -1 -1 "
    f"{40 + 29 * job % 80} -1 {job % 2} {1 + job % 3} 1 1 1 1 "
    f"{job - 1 if job % 3 else -1} 5\n"
    for job in range(1, 121)
)
RESERVATIONS = '{"boxes":[{"base":[0,0],"sides":[4,2]}],"from":300,"to":900}\n'
FAILURES = '{"op":"fail","node":[1,1],"at":60}\n{"op":"repair","node":[1,1],"at":200}\n'

LOGGED = {"trace": "log.swf", "machine": "mesh:4x4"}
SENDING = {"service": "messages:3", "load": 0.05, "jobs": 60}
ITERATING = SENDING | {"service": "iterations:2", "pattern": "all-to-all", "load": 0.005}
TALKING = LOGGED | {"communication": 0.4, "pattern": "all-to-all", "strategy": "mbs"}
FAILING = {"mttf": 300, "mttr": 5}
POD: dict[str, Any] = {
    "machine": "torus:16x16x16",
    "strategy": "tpu",
    "sides": "pods",
    "load": 0.5,
    "fail_classes": "chip:mttf=3000:mttr=2,cube:mttf=40:mttr=2,switch:mttf=400:mttr=1",
    "metrics": ["utilization", "turnaround", "slice_availability", "jobs_hit"],
    "slice": "8x8x16",
}
MOVING = {"strategy": "tff", "load": 2.5, "jobs": 200, "migration": 0.001}

CASES: dict[str, dict[str, Any]] = {
    "machine": {"machine": "grid:4wx6"},
    "scheduler": {"scheduler": "window:3"},
    "strategy": {"strategy": "gabl"},
    "sides": {"sides": "exponential"},
    "service": SENDING,
    "arrivals": {"arrivals": "bursts:4"},
    "jobs": {"jobs": 77},
    "load": {"load": 0.7},
    "pattern": SENDING | {"pattern": "all-to-all"},
    "order": ITERATING | {"order": "from-zero"},
    "sending": ITERATING | {"sending": "pipelined"},
    "rounds": ITERATING | {"rounds": "barrier"},
    "ranks": ITERATING | {"strategy": "mbs", "ranks": "snake"},
    "flits": SENDING | {"flits": 3},
    "routing-delay": SENDING | {"routing_delay": 1},
    "buffer": ITERATING | {"buffer": 4},
    "engine": SENDING | {"engine": "flit", "jobs": 15},
    "release": ITERATING | {"engine": "flit", "release": "passed", "buffer": 4, "jobs": 15},
    "lanes": ITERATING
    | {"machine": "torus:8x8", "jobs": 15, "engine": "flit", "buffer": 2, "lanes": "shared"},
    "link-energy": SENDING | {"link_energy": 0.5},
    "router-energy": SENDING | {"router_energy": 2},
    "trace": LOGGED,
    "shape-rule": LOGGED | {"shape_rule": "pow2"},
    "arrival-scale": LOGGED | {"arrival_scale": 0.5},
    "first": LOGGED | {"first": 50},
    "filter": LOGGED | {"filter": "user=2"},
    "status": LOGGED | {"status": "1"},
    "estimates": LOGGED | {"scheduler": "easy", "estimates": "factor:2"},
    "freedom": LOGGED | {"freedom": "any"},
    "migration": MOVING,
    "movable": MOVING | {"movable": "2"},
    "communication": TALKING,
    "contention": TALKING | {"contention": "simulated", "cycles_per_second": 100},
    "cycles-per-second": TALKING | {"cycles_per_second": 100},
    "kill": LOGGED | {"kill": True},
    "lenient": LOGGED | {"lenient": True},
    "dependencies": LOGGED | {"dependencies": True},
    "processors-per-node": LOGGED | {"processors_per_node": 2},
    "nodes-from": LOGGED | {"nodes_from": 12},
    "pieces": LOGGED | {"pieces": True},
    "log-format": LOGGED | {"log_format": "swf"},
    "mttf": FAILING,
    "mttr": FAILING | {"mttr": 20},
    "failures": {"machine": "mesh:6x6", "failures": "failures.jsonl"},
    "reservations": LOGGED | {"scheduler": "easy", "reservations": "reservations.jsonl"},
    "fail-classes": POD,
    "spares": POD | {"spares": 49},
    "spare-switches": POD | {"spare_switches": 3},
    "slice": POD,
    "checkpoint": FAILING | {"checkpoint": 0.5},
    "warmup": {"warmup": 20},
    "max-waiting": {"max_waiting": 5000},
    "max-time": {"max_time": 1e6},
    "max-interruptions": FAILING | {"max_interruptions": 50},
    "seed": {"seed": 7},
    "slowdown-bound": {"slowdown_bound": 3},
    "metrics": {"metrics": ["turnaround", "+largest_free"]},
}
"""For each parameter, a run in which it has an effect."""

SAME = {"communication", "engine", "lenient", "max-interruptions", "max-time", "max-waiting"}
SAME |= {"metrics", "trace", "pieces", "log-format"}
"""Parameters that do not change the numbers, or without which nothing runs."""

CONTROLS = {
    "replications": 3,
    "precision": 0.5,
    "precision-metrics": "turnaround",
    "confidence": 0.9,
    "min-replications": 2,
    "max-replications": 3,
    "name": "a-run",
    "title": "A run",
    "baseline": "tff",
}
"""Arguments that apply to several runs."""
STILLS: dict[str, dict[str, Any]] = {
    "busy": {"busy": "0,0:2x2", "request": "3x2"},
    "submeshes": {"submeshes": 3, "request": "3x2"},
    "request": {"request": "3x2"},
}
"""Arguments of snapshots."""


def listed() -> set[str]:
    """Returns the names in docs/parameters.md, which is generated from the list of parameters."""
    text = (ROOT / "docs/parameters.md").read_text()
    return set(re.findall(r"^\| `([a-z-]+)`", text, re.MULTILINE))


def test_every_parameter_is_tried() -> None:
    # `skip-unsupported` is tested in test_unsupported.py; `placed` adds a second point.
    tried = {*CASES, *CONTROLS, *STILLS, "timing", "orders", "skip-unsupported", "placed"}
    assert tried == listed()


def options(arguments: dict[str, Any]) -> list[str]:
    """Converts keyword arguments to command-line options."""
    words = []
    for key, value in arguments.items():
        words.append("--" + key.replace("_", "-"))
        if value is not True:
            words.append(",".join(value) if isinstance(value, list) else str(value))
    return words


@pytest.mark.parametrize("name", CASES)
def test_each_parameter_does_the_same_by_both_doors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.swf").write_text(LOG + ("nonsense\n" if name == "lenient" else ""))
    (tmp_path / "failures.jsonl").write_text(FAILURES)
    (tmp_path / "reservations.jsonl").write_text(RESERVATIONS)
    monkeypatch.chdir(tmp_path)
    arguments: dict[str, Any] = {"strategy": "tff", "machine": "mesh:8x8"} | CASES[name]
    if "trace" not in arguments:
        arguments = {"jobs": 100} | arguments
    ours = simulate(**arguments, timing=False)
    command = [program(), "simulate", *options(arguments)]
    command += ["--replications", "1", "--no-timing", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["results"]
    theirs = {metric: found and found["mean"] for metric, found in point["metrics"].items()}
    metrics = dict(zip(ours.metrics["metric"], ours.metrics["value"], strict=True))
    assert metrics == theirs and len(metrics) >= 2
    if name not in SAME:
        gone = ("mttf", "mttr") if name == "mttf" else (name.replace("-", "_"),)
        rest = {key: value for key, value in arguments.items() if key not in gone}
        other = simulate(**rest | ({"mttr": 5} if name == "mttr" else {}), timing=False)
        assert dict(zip(other.metrics["metric"], other.metrics["value"], strict=True)) != metrics


def test_what_is_about_several_runs_is_no_argument_of_one() -> None:
    for key, given in CONTROLS.items():
        key = key.replace("-", "_")
        with pytest.raises(ValueError, match=rf"Experiment\({key}=...\)"):
            simulate("mesh:8x8", jobs=50, **{key: given})
    assert "allocation_ns" in simulate("mesh:8x8", jobs=50).metrics["metric"]
    for arguments in STILLS.values():
        with pytest.raises(ValueError, match="snapshot|request"):
            simulate("mesh:6x6", **arguments)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_gives_the_same_bytes_by_both_doors(example: Path, tmp_path: Path) -> None:
    # Measured times differ from run to run. The test uses a tenth of the jobs, which is faster.
    text = "timing = false\n" + re.sub(r"(?m)^(jobs = \d+)0$", r"\1", example.read_text())
    copy = tmp_path / example.name
    copy.write_text(text)
    command = [program(), "experiment", copy.name, "--out", "theirs"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    Experiment(copy).run(out=tmp_path / "ours")
    names = {path.name for path in (tmp_path / "theirs").iterdir()}
    assert names == {path.name for path in (tmp_path / "ours").iterdir()}
    assert {"results.csv", "results.json", "report.html"} <= names
    for name in names - {"run.json", "report.html"}:
        ours, theirs = (tmp_path / door / name for door in ("ours", "theirs"))
        assert ours.read_bytes() == theirs.read_bytes(), name


SEVERAL: list[dict[str, Any]] = [
    {"machine": "torus:8x8x8", "scheduler": "easy", "load": 2},
    {"machine": "mesh:16x16", "strategy": "gabl", "sides": "exponential", "seed": 3},
    {"machine": "mesh:16x16", "strategy": "random", "scheduler": "ssd", "seed": 5},
    {"machine": "grid:8wx8x4", "mttf": 2000, "mttr": 5, "seed": 9},
    {"machine": "mesh:16x16", "load": 0.01, "service": "messages"},
]


def compact(text: str) -> str:
    """Removes spaces from JSON, and members that only an experiment's results contain."""
    alone = '"(?:experiment|command|target_missed)": .*\n *'
    return re.sub(alone + '|\n *|(?<=":) ', "", text)


def test_browser_terminal_and_package_give_the_same_bytes(tmp_path: Path) -> None:
    module, node = ROOT / "target/try/pavior.wasm", shutil.which("node")
    if not module.exists() or not node:
        pytest.skip("the engine for browsers is not built, or Node is missing")
    package, terminal = [], []
    for number, arguments in enumerate(SEVERAL):
        arguments = {"strategy": "tff", "jobs": 60, "replications": 2} | arguments
        texts = {name: str(value) for name, value in arguments.items()}
        (tmp_path / str(number)).write_text(json.dumps({"do": "simulate", "settings": texts}))
        Experiment(**arguments, timing=False).run(out=tmp_path / f"out-{number}")
        package.append(compact((tmp_path / f"out-{number}/results.json").read_text()))
        command = [program(), "simulate", *options(arguments), "--no-timing", "--format", "json"]
        terminal.append(compact(subprocess.run(command, capture_output=True, text=True).stdout))
    script = [node, str(ROOT / "apps/browser/tests/engine.mjs"), str(module), str(tmp_path)]
    browser = subprocess.run(script, capture_output=True, text=True).stdout.splitlines()
    assert browser == terminal == package and "turnaround" in browser[-1]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
    with pytest.raises(PaviorError):
        Experiment("strategy = 'nothing'")


def test_an_experiment_declares_every_parameter() -> None:
    tables = {"figure", "sweep"}
    aliases = {"loads", "machines", "patterns", "requests", "schedulers", "seeds", "strategies", "traces"}
    declared = {name.replace("_", "-") for name in Parameters.__annotations__}
    assert declared == (listed() - {"name"}) | tables | aliases
    told = pydoc.render_doc(Experiment, renderer=pydoc.plaintext)
    for name in declared:
        assert re.search(rf"^ .*\b{name.replace('-', '_')}: ", told, re.MULTILINE), name
    assert "jobs per unit of time; default 1.5)" in told


TYPED = """
from datetime import timedelta
import numpy as np
from pavior import Experiment, Strategy

class Own(Strategy):
    pass

Experiment(machine=["mesh:8x8", (4, 4)], strategy=["ff", Own], scheduler=lambda job: job.nodes)
Experiment(load={"from": 0.5, "to": 2, "steps": 4, "scale": "log"}, jobs=[10, 20], freedom="any")
Experiment(load=np.linspace(0.5, 2, 4), mttf=[timedelta(hours=1), 20.0], mttr=None)
Experiment(replications=3, precision=0.1, metrics=["turnaround"], orders={"mfa": "N"})
"""
WRONG = ["lod=1", "load='high'", "engine='flt'", "jobs=[0.5]", "replications=[3, 4]", "timing=1"]


def test_the_types_of_an_experiment_are_checked(tmp_path: Path) -> None:
    right = tmp_path / "right.py"
    right.write_text(TYPED)
    wrong = tmp_path / "wrong.py"
    calls = "".join(f"Experiment({keyword})\n" for keyword in WRONG)
    wrong.write_text(f"from pavior import Experiment\n{calls}")
    found, errors, _ = mypy.api.run(["--strict", "--no-color-output", str(right), str(wrong)])
    assert errors == "" and "right.py" not in found, found
    for line, keyword in enumerate(WRONG, 2):
        assert f"wrong.py:{line}: error" in found, keyword
