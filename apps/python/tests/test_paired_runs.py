"""Tests the comparison of two runs by their placements."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_doors import ROOT
from test_placements import Line, line, written


def compare(folder: Path, *runs: list[Line]) -> subprocess.CompletedProcess[str]:
    """Runs the script on some runs."""
    paths = [folder / f"{number}.jsonl" for number in range(len(runs))]
    for path, run in zip(paths, runs, strict=True):
        path.write_text(written(run))
    command = [sys.executable, str(ROOT / "examples" / "paired_runs.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True)


def run(waits: list[float]) -> list[Line]:
    """Returns jobs submitted one after another, with the given waits."""
    return [line(job, job + wait, job + wait + 2, submit=job) for job, wait in enumerate(waits)]


def ratios(said: str) -> dict[str, list[float]]:
    """Returns the ratio and its interval for each span."""
    found = re.findall(r"^(\w+): .*ratio ([\d.]+), ([\d.]+) to ([\d.]+)$", said, re.M)
    return {name: [float(one) for one in numbers] for name, *numbers in found}


def test_what_both_share_cancels(tmp_path: Path) -> None:
    dice = random.Random(4)
    waits = [100 * dice.random() for _ in range(400)]
    done = compare(tmp_path, run([2 * wait for wait in waits]), run(waits))
    assert done.returncode == 0, done.stderr
    assert "400 jobs ended in both runs, 0 in one alone" in done.stdout
    assert ratios(done.stdout)["waiting"] == [2, 2, 2]
    assert ratios(done.stdout)["service"] == [1, 1, 1]


def test_the_interval_is_that_of_the_noise(tmp_path: Path) -> None:
    """Checks that the interval for independent waits is 1.96 standard errors wide on each side."""
    dice = random.Random(5)
    pairs = [(10 + dice.random(), 10.0) for _ in range(10_000)]
    done = compare(tmp_path, *(run(list(column)) for column in zip(*pairs, strict=True)))
    ratio, low, high = ratios(done.stdout)["waiting"]
    expected = 1.96 * (1 / 12) ** 0.5 / 100 / 10
    assert abs(ratio - 1.05) < 0.001
    assert abs((high - low) / 2 / expected - 1) < 0.15


def test_jobs_are_matched_by_number_and_submission(tmp_path: Path) -> None:
    """Checks that file order does not matter and that a job still running in one run is left out."""
    waits = [float(job % 7) for job in range(200)]
    one, other = run(waits), run(waits)[::-1]
    one[3]["end"] = None
    done = compare(tmp_path, one, other)
    assert "199 jobs ended in both runs, 1 in one alone" in done.stdout
    assert ratios(done.stdout)["turnaround"] == [1, 1, 1]


def test_nothing_is_said_of_too_few_jobs_and_of_faulty_files(tmp_path: Path) -> None:
    few = compare(tmp_path, run([1.0] * 99), run([1.0] * 99))
    assert (few.returncode, few.stdout) == (2, "")
    assert "99 jobs ended in both runs, at least 100 are needed" in few.stderr
    lost = run([1.0] * 200)
    lost[5] |= {"moved": 1}
    faulty = compare(tmp_path, lost, run([1.0] * 200))
    assert (faulty.returncode, faulty.stdout) == (2, "")
    assert "has no earlier stay" in faulty.stderr
    none = compare(tmp_path, run([0.0] * 200), run([0.0] * 200))
    assert "waiting: 0 and 0, no ratio to 0\n" in none.stdout


def test_a_cell_of_the_choice_is_of_the_jobs_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that jobs are sorted by submission, and that jobs of only one run are left out."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from choice_pairs import cell

    choice = {(job, float(job), 1): 3.0 + job % 2 for job in range(400)}
    other = {key: 2 * value for key, value in reversed(choice.items())} | {(999, 0.5, 1): 1e9}
    assert cell(choice, other) == "0.500 (0.500 to 0.500)"
