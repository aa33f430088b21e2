"""Tests start time forecasts for the jobs in a log."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pavior

from pavior import Trace, forecast
from test_experiment import program

LOG = Path(__file__).resolve().parents[3] / "docs" / "advise.in" / "jobs.sacct"
FEW: dict[str, Any] = {"first": 120, "futures": 4}


def test_what_is_told_is_what_the_command_tells(tmp_path: Path) -> None:
    told = forecast(LOG, "torus:8x8", **FEW)
    lines = tmp_path / "jobs.csv"
    options = ["--first", "120", "--futures", "4", "--machine", "torus:8x8", "--out", str(lines)]
    command = [program(), "forecast", str(LOG), *options, "--format", "json"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert (told.waited, told.rejected) == (printed["waited"], printed["rejected"])
    assert told.held == pytest.approx(printed["held"])
    assert told.losses["intervals"] == pytest.approx(printed["loss_s"])
    assert told.losses["past_waits"] == pytest.approx(printed["loss_past_waits_s"])
    ours, theirs = pl.DataFrame(told.jobs), pl.read_csv(lines)
    assert ours.columns == theirs.columns and len(ours) == len(theirs) == printed["jobs"]
    for column in ("low", "median", "high", "plan", "corrected", "start", "held"):
        rounded = ours[column].cast(pl.Float64).round()
        assert (rounded - theirs[column]).abs().max() <= 1, column


def test_it_says_what_it_is() -> None:
    told = forecast(LOG, "torus:8x8", **FEW)
    assert told.jobs.unit == "s"
    words = f"Forecasts for {len(told.jobs)} jobs on torus:8x8 under tff and easy"
    assert words in repr(told) and words in told._repr_html_() and "median" in repr(told)


def test_without_waiting_jobs_nothing_is_held() -> None:
    told = forecast(LOG, "torus:64x64", **FEW)
    assert told.waited == 0 and told.held is None
    assert ": 0 had to wait>" in repr(told)


def test_a_log_in_memory_threads_and_progress_change_nothing() -> None:
    heard: list[tuple[int, int]] = []
    first = forecast(LOG, "torus:8x8", **FEW)
    table = Trace(LOG)
    whole = forecast(table, "torus:8x8", futures=2, progress=lambda at: heard.append((at.done, at.planned)))
    assert heard[-1][0] == len(whole.jobs)
    again = forecast(LOG, "torus:8x8", **FEW, threads=2)
    assert pl.DataFrame(again.jobs).equals(pl.DataFrame(first.jobs))


def test_what_cannot_be_forecast_raises(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="load"):
        forecast(LOG, "torus:8x8", load=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="futures"):
        forecast(LOG, "torus:8x8", futures=0)
    with pytest.raises(ValueError, match="built-in"):
        forecast(LOG, "torus:8x8", scheduler=lambda job: job.estimate)  # type: ignore[arg-type]
    with pytest.raises(pavior.BadName):
        forecast(LOG, "torus:8x8", "nope")
    with pytest.raises(FileNotFoundError):
        forecast(tmp_path / "none.swf", "torus:8x8")
