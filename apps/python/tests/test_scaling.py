"""Runs `pavior sweep` from a pool of processes, as a batch system would."""

from __future__ import annotations

import json
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pavior import Experiment
from test_experiment import TEXT, program


def call(*words: object) -> str:
    done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_parts_from_anywhere_make_the_whole(tmp_path: Path) -> None:
    sweep, parts = tmp_path / "sweep", tmp_path / "parts"
    sweep.mkdir()
    parts.mkdir()
    (sweep / "experiment.toml").write_text(TEXT)
    for turn in range(100):
        done = sorted(parts.iterdir())
        spans = json.loads(call("sweep", "wanted", sweep, *done, "--most", 7, "--json"))
        if not spans:
            break
        if turn == 1:
            merged = subprocess.run(
                [program(), "merge", *map(str, done), "--out", str(tmp_path / "early")],
                capture_output=True,
                text=True,
            )
            assert merged.returncode == 2 and "lists the next" in merged.stderr

        def work(number: int) -> None:
            todo = tmp_path / f"spans-{turn}-{number}.json"
            todo.write_text(json.dumps([spans[number]]))
            part = parts / f"{turn:02}-{number:03}"
            words = ["sweep", "run", sweep, "--spans", todo, "--out", part, "--threads", 1]
            if number == 0:
                # A worker that is killed leaves no lock, so its part can be continued.
                victim = subprocess.Popen([program(), *map(str, words)])
                victim.send_signal(signal.SIGKILL)
                victim.wait()
            call(*words)
            call(*words)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, range(len(spans))))
    else:
        pytest.fail("the sweep does not finish")
    call("merge", *sorted(parts.iterdir()), "--out", tmp_path / "whole")
    for name, content in Experiment(TEXT).run().files().items():
        assert (tmp_path / "whole" / name).read_bytes() == content, name


@pytest.mark.parametrize(
    "spans",
    [
        "[",
        "{}",
        '[{"point":99,"first":0,"last":0}]',
        '[{"point":0,"first":2,"last":1}]',
        '[{"point":0,"first":0,"last":0,"other":1}]',
    ],
)
def test_spans_that_make_no_sense(tmp_path: Path, spans: str) -> None:
    (tmp_path / "experiment.toml").write_text(TEXT)
    (tmp_path / "spans.json").write_text(spans)
    words = ["sweep", "run", tmp_path, "--spans", tmp_path / "spans.json", "--out", tmp_path / "p"]
    done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 2 and "spans.json" in done.stderr
    assert not (tmp_path / "p").exists()
