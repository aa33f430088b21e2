"""Tests the contiguity study's tables, from results with and without varying parameters."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from pavior import Experiment
from test_doors import LOG, ROOT

EXPERIMENT = """
name = "part"
timing = false
trace = "log.swf"
machine = "mesh:4x4"
ranks = "pattern"
pattern = "ring"
communication = [{shares}]
metrics = ["turnaround", "waiting", "waiting_error", "service"]

[[sweep]]
scheduler = "easy"
strategy = "tff"
freedom = ["box", "turned", "any-box", "connected", "any"]

[[sweep]]
scheduler = "easy"
strategy = "mbs"
"""


def results_of(folder: Path, text: str) -> Path:
    """Runs an experiment on the log in a new folder, and returns the results."""
    folder.mkdir()
    (folder / "log.swf").write_text(LOG)
    (folder / "part.toml").write_text(text)
    Experiment(folder / "part.toml").run(out=folder / "out")
    return folder / "out" / "results.csv"


def shown(results: list[Path], *more: str) -> list[list[str]]:
    """Returns the rows of the tables, without headers."""
    command = [sys.executable, str(ROOT / "examples" / "break_even.py"), *map(str, results), *more]
    done = subprocess.run([*command, "--pattern", "ring"], capture_output=True, text=True, check=True)
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in done.stdout.splitlines()
        if ":4x4`" in line
    ]


def hours(results: Path, metric: str = "waiting") -> dict[tuple[str, str], float]:
    """Returns the means in hours, by machine and freedom."""
    with results.open(newline="") as lines:
        return {
            (row.get("machine", "mesh:4x4"), row["freedom"] or row["strategy"]): float(row["mean"]) / 3600
            for row in csv.DictReader(lines)
            if row["metric"] == metric
        }


def test_runs_of_one_share_each_are_read_as_one_run_of_all(tmp_path: Path) -> None:
    together = shown([results_of(tmp_path / "all", EXPERIMENT.format(shares="0, 0.4"))])
    # The rows are waterfall, wait, turnaround at both shares, and the shares between two freedoms.
    assert [row[0] for row in together] == ["log"] * 5
    assert [row[2] for row in together[2:4]] == ["0", "0.4"]
    parts = [results_of(tmp_path / f"part{share}", EXPERIMENT.format(shares=share)) for share in ["0", "0.4"]]
    assert shown(parts) == together


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns results without messages, for a mesh and a torus with the same sides."""
    machines = 'machine = ["mesh:4x4", "torus:4x4"]'
    text = EXPERIMENT.format(shares="0").replace('machine = "mesh:4x4"', machines)
    return results_of(tmp_path_factory.mktemp("both") / "run", text)


def test_the_waterfall_goes_from_boxes_to_counting_nodes(both: Path) -> None:
    wait = hours(both)
    mesh = {freedom: wait["mesh:4x4", freedom] for freedom in ["box", "turned", "any-box", "connected", "any", "mbs"]}
    row = shown([both])[0]
    expected = [
        mesh["box"],
        mesh["box"] - mesh["turned"],
        mesh["turned"] - mesh["any-box"],
        mesh["any-box"] - mesh["connected"],
        mesh["connected"] - mesh["any"],
        mesh["any"],
        mesh["mbs"],
        mesh["turned"] - wait["torus:4x4", "turned"],
    ]
    assert row == ["log", "`mesh:4x4`", *(f"{one:.3g}" for one in expected), ""]
    assert mesh["box"] > mesh["connected"] and expected[-1] != 0
    assert float(row[2]) - sum(map(float, row[3:7])) == pytest.approx(float(row[7]), abs=0.01)


@pytest.mark.parametrize(("factor", "found"), [(1, True), (1.01, False)])
def test_free_moves_are_read_where_turned_boxes_wait_as_long(
    both: Path, factor: float, found: bool, tmp_path: Path
) -> None:
    turned = hours(both)["mesh:4x4", "turned"] * 3600
    head = "log,machine,first,choice,waiting"
    lines = [head, f"log,mesh:4x4,all,turned,{turned * factor}", head, f"log,mesh:4x4,all,moves 0,{turned - 18}"]
    moves = tmp_path / "migration.csv"
    moves.write_text("\n".join(lines))
    rows, without = shown([both], "--moves", str(moves)), shown([both])
    assert rows[0][-1] == ("0.005" if found else "")
    # Nothing else changes.
    assert rows[0][:-1] == without[0][:-1] and rows[1:] == without[1:]


CHOSEN = """
[[sweep]]
scheduler = ["easy", "easy-freedom"]
strategy = "bf:turn=all"
"""


def test_the_choice_stands_beside_the_best_fixed_strategy_its_own_boxes_too(tmp_path: Path) -> None:
    results = results_of(tmp_path / "chosen", EXPERIMENT.format(shares="0.4") + CHOSEN)
    with results.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["metric"] == "turnaround"]
    means = {(row["scheduler"], row["freedom"] or row["strategy"]): float(row["mean"]) for row in rows}
    pays = means.pop(("easy-freedom", "bf:turn=all"))
    (_, best), least = min(means.items(), key=lambda item: item[1])
    turnaround, compared = shown([results])[-2:]
    assert turnaround[-2:] == [f"{one / 3600:.3g}" for one in (means["easy", "bf:turn=all"], pays)]
    assert compared[-1] == f"{pays / least:.2f} (`{best}`)"
