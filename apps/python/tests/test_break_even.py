"""The tables of the study of contiguity, from results with and without what varies in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def tables(folder: Path, shares: list[str]) -> list[list[str]]:
    """The rows of the tables from one run for each list of shares."""
    folder.mkdir()
    (folder / "log.swf").write_text(LOG)
    results = []
    for number, share in enumerate(shares):
        (folder / "part.toml").write_text(EXPERIMENT.format(shares=share))
        out = folder / f"out{number}"
        Experiment.read(folder / "part.toml").run(out=out)
        results.append(out / "results.csv")
    command = [sys.executable, ROOT / "examples" / "break_even.py", *results, "--pattern", "ring"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in shown.stdout.splitlines()
        if "`mesh:4x4`" in line
    ]


def test_runs_of_one_share_each_are_read_as_one_run_of_all(tmp_path: Path) -> None:
    rows = tables(tmp_path / "together", ["0, 0.4"])
    # Waiting, turnaround at either share, and the shares between two freedoms.
    assert [row[0] for row in rows] == ["log"] * 4
    assert [row[2] for row in rows[1:3]] == ["0", "0.4"]
    assert tables(tmp_path / "apart", ["0", "0.4"]) == rows
