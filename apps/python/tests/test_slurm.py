"""Tests `examples/sweep-slurm.sh` as users call it, on a real Slurm cluster with a killed worker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_experiment import program

EXAMPLES = Path(__file__).parents[3] / "examples"
NEEDED = ["munged", "slurmctld", "slurmd", "sbatch", "jq"]

TEXT = """
machine = "mesh:16x16"
strategy = ["ff", "tff"]
load = [1.0, 2.0]
jobs = 8000
precision = 0.1
max-replications = 8
timing = false
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Starts a toy cluster of two nodes and yields its environment."""
    path = f"{Path(program()).parent}:{os.environ['PATH']}:/usr/sbin"
    missing = [name for name in NEEDED if shutil.which(name, path=path) is None]
    if missing or os.getuid() != 0:
        reason = f"no {', '.join(missing) or 'root privileges'}"
        assert "PAVIOR_REQUIRE_SLURM" not in os.environ, reason
        pytest.skip(reason)
    script, folder = EXAMPLES / "slurm/cluster.sh", tmp_path / "cluster"
    # By default, Slurm waits a few seconds before starting a job that could start.
    at_once = "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0"
    environment = os.environ | {"PATH": path, "SLURM_PLAIN": "2", "SLURM_EXTRA": at_once}
    environment["POLL_SECONDS"] = "0.2"
    start = [script, "start", folder, "27900"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    try:
        subprocess.run(start, env=environment, check=True, timeout=60, **quiet)  # type: ignore[call-overload]
        yield environment | {"SLURM_CONF": f"{folder}/slurm.conf"}
    finally:
        subprocess.run([script, "stop", folder], env=environment, timeout=60, check=False)


def workers(parts: Path) -> dict[int, str]:
    """Returns the processes that run parts, each with its part."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if len(words) > 2 and words[1:3] == ["sweep", "run"] and "--out" in words:
            out = words[words.index("--out") + 1]
            if Path(out).parent == parts:
                found[int(process.name)] = out
    return found


def is_killed_in_the_middle(worker: int, part: Path) -> bool:
    """Kills a worker that has stored some of its four replications, but not all."""
    journal = part / "journal"
    if not journal.exists() or journal.read_bytes().count(b"\n") == 0:
        return False
    try:
        os.kill(worker, signal.SIGSTOP)
        middle = journal.read_bytes().count(b"\n") < 4
        os.kill(worker, signal.SIGKILL if middle else signal.SIGCONT)
    except ProcessLookupError:
        return False
    return middle


def test_a_sweep_as_job_arrays(tmp_path: Path, cluster: dict[str, str]) -> None:
    (tmp_path / "sweep.toml").write_text(TEXT)
    out = tmp_path / "out"
    call = [EXAMPLES / "sweep-slurm.sh", tmp_path / "sweep.toml", out, "4"]
    killed = ""
    with subprocess.Popen(
        call, env=cluster, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as sweep:
        began = time.monotonic()
        while sweep.poll() is None and time.monotonic() < began + 120:
            for process, part in workers(out / "parts").items() if not killed else ():
                if is_killed_in_the_middle(process, Path(part)):
                    killed = part
                    break
            time.sleep(0.01)
        assert sweep.stdout is not None
        if sweep.poll() is None:
            sweep.kill()
        said = sweep.stdout.read()
    assert sweep.returncode == 0, said
    assert killed and said.count("turn ") > 1
    # The killed worker has left neither a child nor a lock, so its part can be continued.
    assert not workers(out / "parts")
    kept = Path(killed, "journal").read_bytes().count(b"\n")
    assert 1 <= kept < 4
    spans = tmp_path / "spans.json"
    spans.write_text('[{"point": 0, "first": 0, "last": 0}]')
    again = ["sweep", "run", out / "sweep", "--spans", spans, "--out", killed]
    done = subprocess.run([program(), *map(str, again)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    alone = [program(), "experiment", "sweep.toml", "--out", "alone"]
    subprocess.run(alone, cwd=tmp_path, check=True, capture_output=True)
    whole = out / "whole"
    names = {file.name for file in (tmp_path / "alone").iterdir() if file.suffix == ".csv"}
    assert "results.csv" in names
    for name in names:
        assert (whole / name).read_bytes() == (tmp_path / "alone" / name).read_bytes(), name
