#!/usr/bin/env python3
"""Compares `--contention estimated` with `--contention simulated` on windows from a log.

    examples/contention.py LOG MACHINE [--windows 4] [--jobs 150] [--strategy mbs] [--freedom any] [--scheduler easy]
                           [--pattern near-neighbour] [--ranks coordinates] [--communication 0.2]
                           [--cycles-per-second 10] [--pavior pavior]

Windows have the given number of job lines and start at equally spaced positions in the log. Each one is run three
times: without communication, simulated, and estimated. `added` is the increase in mean service time over the first run,
and `error` is the error of the estimate relative to the simulation. The last line covers all windows. Requires Python
3.11 and `pavior`.
"""

import argparse
import gzip
import json
import os
import tempfile
import zlib

from scripts import end_with_reader, run, unreadable


def jobs_of(log: str) -> list[str]:
    """Returns the job lines in a log."""
    opened = gzip.open if log.endswith(".gz") else open
    try:
        with opened(log, "rt", errors="replace") as lines:
            jobs = [line for line in lines if line.strip() and not line.startswith(";")]
    except (OSError, EOFError, zlib.error) as error:
        unreadable(f"{log}: {error}")
    if not jobs:
        unreadable(f"{log}: no jobs")
    return jobs


def service(arguments: argparse.Namespace, log: str, more: list[str]) -> float:
    """Returns a run's mean service time, in seconds."""
    command = [arguments.pavior, "simulate", "--trace", log, "--machine", arguments.machine]
    command += ["--strategy", arguments.strategy, "--scheduler", arguments.scheduler]
    command += ["--freedom", arguments.freedom] if arguments.freedom else []
    command += ["--no-timing", "--format", "json", *more]
    return float(json.loads(run(command))["results"][0]["metrics"]["service"]["mean"])


def main() -> None:
    """Runs the windows and prints a line for each."""
    end_with_reader()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("log")
    parser.add_argument("machine")
    parser.add_argument("--windows", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=150)
    parser.add_argument("--strategy", default="mbs")
    parser.add_argument("--freedom")
    parser.add_argument("--scheduler", default="easy")
    parser.add_argument("--pattern", default="near-neighbour")
    parser.add_argument("--ranks", default="coordinates")
    parser.add_argument("--communication", default="0.2")
    parser.add_argument("--cycles-per-second", default="10")
    parser.add_argument("--pavior", default="pavior")
    arguments = parser.parse_args()
    if arguments.windows < 1 or arguments.jobs < 1:
        unreadable("--windows and --jobs must be at least 1")
    jobs = jobs_of(arguments.log)
    shared = ["--communication", arguments.communication, "--pattern", arguments.pattern]
    shared += ["--ranks", arguments.ranks]
    speed = ["--cycles-per-second", arguments.cycles_per_second]
    totals = [0.0, 0.0]
    print(f"{'first line':>10} {'simulated':>12} {'estimated':>12} {'error':>8}   added seconds, means over jobs")
    for window in range(arguments.windows):
        first = window * max(0, len(jobs) - arguments.jobs) // max(1, arguments.windows - 1)
        with tempfile.NamedTemporaryFile("w", suffix=".swf", delete=False) as cut:
            cut.writelines(jobs[first : first + arguments.jobs])
        try:
            base = service(arguments, cut.name, ["--communication", "0", *speed])
            added = [
                service(arguments, cut.name, [*shared, *speed, "--contention", how]) - base
                for how in ("simulated", "estimated")
            ]
        finally:
            os.unlink(cut.name)
        print_line(first + 1, *added)
        totals = [total + one for total, one in zip(totals, added, strict=True)]
    print_line("all", *(total / arguments.windows for total in totals))


def print_line(name: int | str, exact: float, model: float) -> None:
    """Prints the results for one window, or for all."""
    error = f"{model / exact - 1:+8.1%}" if exact else "        "
    print(f"{name:>10} {exact:>12.2f} {model:>12.2f} {error}", flush=True)


if __name__ == "__main__":
    main()
