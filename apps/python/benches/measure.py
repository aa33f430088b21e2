"""Measures the numbers in results/python.md and prints its tables.

    python apps/python/benches/measure.py [PART ...] [--wheel FILE]

Requires an environment with the packages in requirements-check.txt and a wheel built with the release
profile:

    maturin build --release --out target/wheels -m apps/python/Cargo.toml
    pip install -r apps/python/requirements-check.txt target/wheels/pavior-*.whl

Parts: wheel, machine, log, own, sweep (default: all). `--wheel` gives the file that the `wheel` part installs
into fresh environments. Unless a table says otherwise, times are CPU times, as medians over several runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pavior
from pavior import MachineView, Experiment, Machine, Queue, Running, Scheduler, Trace, simulate

ROOT = Path(__file__).parents[3]


def median(run: Callable[[], float], times: int = 5) -> float:
    return statistics.median(run() for _ in range(times))


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """Returns a call's CPU time, over all threads in this process, and its result."""
    begin = time.process_time()
    value = call()
    return time.process_time() - begin, value


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(title: str, *columns: str) -> None:
    print(f"\n## {title}\n")
    row(*columns)
    row(*("---" if index == 0 else "---:" for index in range(len(columns))))


# ------------------------------------------------------------------------------------ the wheel

IMPORT = """
import sys, time
begin = time.perf_counter()
import pavior
print(1e3 * (time.perf_counter() - begin))
"""


def wheel(file: Path | None) -> None:
    """Measures the wheel's size, and how long it takes to install and import with each Python."""
    if file is None:
        print("\nThe part `wheel` needs --wheel FILE.")
        return
    head("The wheel", "measurement", "result", "goal")
    row("size, MB (10^6 bytes)", f"{file.stat().st_size / 1e6:.2f}", "3")
    for version in ("3.11", "3.12", "3.13", "3.14"):
        interpreter = shutil.which(f"python{version}")
        works = interpreter and subprocess.run([interpreter, "-c", ""], capture_output=True)
        if not interpreter or not works or works.returncode:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([interpreter, "-m", "venv", folder], check=True, capture_output=True)
            python = str(Path(folder) / "bin/python")
            install = [python, "-m", "pip", "install", "--quiet", "--no-index", str(file)]
            subprocess.run(install, check=True, capture_output=True)
            example = ROOT / "apps/python/examples/first.py"
            subprocess.run([python, str(example)], check=True, capture_output=True, cwd=folder)

            def imported(python: str = python, folder: str = folder) -> float:
                command = [python, "-c", IMPORT]
                done = subprocess.run(command, check=True, capture_output=True, cwd=folder)
                return float(done.stdout)

            imported()
            took = median(imported, 21)
            row(f"{version}: installs offline, runs the example; import, ms", f"{took:.1f}", "20")


# ------------------------------------------------------------------------------------ a live machine

PAIRS = 500
"""The number of pairs per run, which is small enough that at least one of many runs is not interrupted."""


def machine() -> None:
    """Measures a grant with its release, and compares the time with that of the same calls in Rust."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "pavior", "--example", "pairs"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    rust = {name: float(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
    head("`try_allocate` and its release, ns", "machine and strategy", "Rust", "Python", "difference", "goal")
    for name, strategy, shape in (
        ("torus:8x8x8", "tff", (2, 2, 2)),
        ("mesh:16x16", "tbl", (4, 4)),
        ("torus:16x16x16", "tff", (4, 4, 4)),
    ):
        ours = Machine(name, strategy)
        for _ in range(3):
            ours.allocate(shape)

        def pairs(ours: Machine = ours, shape: tuple[int, ...] = shape) -> float:
            allocate, release = ours.try_allocate, ours.release
            begin = time.perf_counter()
            for _ in range(PAIRS):
                release(allocate(shape))
            return 1e9 * (time.perf_counter() - begin) / PAIRS

        python = min(pairs() for _ in range(1_500))
        theirs = rust[f"{name}/{strategy}"]
        row(f"`{name}`, `{strategy}`", f"{theirs:.0f}", f"{python:.0f}", f"{python - theirs:.0f}", "300")


# ------------------------------------------------------------------------------------ a long log

JOBS = 1_000_000


def long_log() -> Any:
    """Returns a million jobs of 1 to 64 nodes, as columns, that use about 60% of a 512-node torus."""
    import numpy as np

    draw = np.random.default_rng(1)
    run = draw.exponential(600.0, JOBS).round() + 1
    return {
        "submit": draw.exponential(40.0, JOBS).cumsum().round(),
        "run": run,
        "estimate": (run * draw.uniform(1.0, 3.0, JOBS)).round(),
        "nodes": 2 ** draw.integers(0, 7, JOBS),
    }


def log() -> None:
    """Measures replaying an in-memory log into a Polars data frame."""
    import polars as pl

    arrow: Any = importlib.import_module("pyarrow")
    table = pl.DataFrame(long_log())
    reading, trace = cpu(lambda: Trace(table))
    head(f"A log of {JOBS:,} jobs on `torus:8x8x8`, `tff`", "measurement", "result", "goal")
    row("table to `Trace`, CPU seconds", f"{reading:.2f}", "")
    for scheduler, wanted in (("fcfs", 3), ("easy", 5)):
        def go(scheduler: str = scheduler) -> tuple[pavior.Result, pl.DataFrame]:
            result = simulate("torus:8x8x8", "tff", scheduler, trace=trace, timing=False)
            return result, pl.DataFrame(result.jobs)

        took, (result, frame) = min((cpu(go) for _ in range(3)), key=lambda run: run[0])
        row(f"`{scheduler}`, run and Polars frame, CPU seconds", f"{took:.2f}", wanted)
        used = result["utilization"]
        row(f"`{scheduler}`, utilization", f"{used:.3f}", "")
    row("the frame, bytes per job", f"{frame.estimated_size() / len(frame):.1f}", "70")
    theirs = arrow.table(result.jobs).column("submit").chunk(0).buffers()[1].address
    same = frame["submit"].to_arrow().buffers()[1].address == theirs
    row("pyarrow and Polars see the same buffer", "yes" if same else "NO", "yes")


# ------------------------------------------------------------------------------------ code in Python


class InOrder(Scheduler):
    """A first-come, first-served scheduler."""

    name = "in-order"

    def next(self, now: float, queue: Queue, running: Running, view: MachineView) -> int | None:
        return 0 if view.can_start(0) else None


def own() -> None:
    """Measures a scheduler and a priority function written in Python, and the Gymnasium environments."""
    import gymnasium
    import polars as pl

    import pavior.gym

    trace = Trace(pl.DataFrame(long_log())[:200_000])
    head("200,000 jobs of that log, `torus:8x8x8`, `tff`: jobs per CPU second", "scheduler", "result", "goal")
    tables = {}
    for name, scheduler, wanted in (
        ("`fcfs` in Rust", "fcfs", ""),
        ("FCFS in Python", InOrder, "100,000"),
        ("`ssd` in Rust", "ssd", ""),
        ("`lambda job: job.estimate`", lambda job: job.estimate, ""),
    ):
        def go(scheduler: Any = scheduler) -> pavior.Result:
            return simulate("torus:8x8x8", "tff", scheduler, trace=trace, timing=False)

        took, result = min((cpu(go) for _ in range(3)), key=lambda run: run[0])
        tables[name] = pl.DataFrame(result.jobs)
        row(name, f"{len(trace) / took:,.0f}", wanted)
    one, two, three, four = tables.values()
    print(f"\nThe job tables are equal: {one.equals(two)} and {three.equals(four)}.")

    head("Environments: decisions per CPU second", "environment", "result", "goal")
    for name in ("pavior/Scheduling-v0", "pavior/Allocation-v0"):
        for load in (1.0, 3.0):
            env = gymnasium.make(name, load=load, jobs=1000)
            rates = []
            for seed in range(5):
                _, info = env.reset(seed=seed)
                count, over, begin = 0, False, time.process_time()
                while not over:
                    _, _, over, _, info = env.step(info["action_mask"].argmax())
                    count += 1
                rates.append(count / (time.process_time() - begin))
            row(f"`{name}`, `torus:8x8x8`, load {load}", f"{statistics.median(rates):,.0f}", "20,000")


# ------------------------------------------------------------------------------------ sweeps

SWEEP = """
machine = "mesh:16x16"
strategy = ["tff", "tbl", "gabl"]
load = [1.0, 1.5, 2.0]
jobs = 1000
replications = 200
timing = false
"""


def sweep() -> None:
    """Measures the same sweep on threads, a process pool and Dask."""
    dask: Any = importlib.import_module("distributed")
    experiment, cores = Experiment(SWEEP), len(os.sched_getaffinity(0))
    files: dict[str, dict[str, bytes]] = {}

    def timed(name: str, run: Callable[[], pavior.Results]) -> float:
        begin = time.perf_counter()
        files.setdefault(name, run().files())
        return time.perf_counter() - begin

    took: dict[str, list[float]] = {"threads": [], "process pool": [], "Dask": []}
    with (
        ProcessPoolExecutor(cores) as pool,
        dask.LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        warm = Experiment(SWEEP.replace("200", "2"))
        warm.run(on=pool)
        warm.run(on=client)
        for _ in range(3):
            took["threads"].append(timed("threads", lambda: experiment.run(threads=cores)))
            took["process pool"].append(timed("process pool", lambda: experiment.run(on=pool)))
            took["Dask"].append(timed("Dask", lambda: experiment.run(on=client)))
    head(f"A sweep of 1,800 replications on {cores} cores", "engine", "seconds", "relative to threads", "goal")
    base = statistics.median(took["threads"])
    for name, seconds in took.items():
        middle = statistics.median(seconds)
        more = f"{100 * (middle / base - 1):+.1f}%"
        row(name, f"{middle:.2f}", more, "+10%" if name == "Dask" else "")
    # One worker is killed during the run, and another takes its place.
    with (
        dask.LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        victim = next(iter(cluster.workers.values())).process.pid
        killer = threading.Timer(base / 2, lambda: os.kill(victim, 9))
        killer.start()
        files["Dask, a worker killed"] = experiment.run(on=client).files()
        killer.join()
    same = all(each == files["threads"] for each in files.values())
    print(f"\n{', '.join(files)} give the same bytes: {same}.")


def main() -> None:
    parts: dict[str, Callable[[], None]] = {
        "wheel": lambda: wheel(arguments.wheel),
        "machine": machine,
        "log": log,
        "own": own,
        "sweep": sweep,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--wheel", type=Path)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(parts):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    load = os.getloadavg()[0]
    model = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?"
    )
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, Python {platform.python_version()}, {model}, "
          f"{os.cpu_count()} cores, initial load {load:.1f}")
    for name in arguments.parts or parts:
        parts[name]()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
