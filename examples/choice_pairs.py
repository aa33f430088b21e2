#!/usr/bin/env python3
"""Compares mean turnaround when choosing job by job with that of fixed choices, as ratios with intervals.

    examples/choice_pairs.py FOLDER [--logs KTH,SDSC-SP2] [--kind mesh] [--shares 0.1,0.2,0.4] [--pavior pavior]

Runs the logs in the directory (named as in the Parallel Workloads Archive) with near-neighbour messages: `bf:turn=all`
under `easy-freedom` and, under `easy`, rotated boxes, `bf:turn=all`, connected nodes, any nodes, and counting nodes.
Prints a table row for each log and share, with 95% intervals as in examples/paired_runs.py. Requires Python 3.11 and
the `pavior` binary.
"""

import argparse
import tempfile

from freedom import logs_of
from paired_runs import Key, ended, in_both, interval
from scripts import end_with_reader, run

CHOICE = ["--strategy", "bf:turn=all", "--scheduler", "easy-freedom"]
OTHERS = {
    "`turned`": ["--strategy", "tff", "--scheduler", "easy", "--freedom", "turned"],
    "`bf:turn=all`": ["--strategy", "bf:turn=all", "--scheduler", "easy"],
    "`connected`": ["--strategy", "tff", "--scheduler", "easy", "--freedom", "connected"],
    "`any`": ["--strategy", "tff", "--scheduler", "easy", "--freedom", "any"],
    "`mbs`": ["--strategy", "mbs", "--scheduler", "easy"],
}


def turnarounds(command: list[str], more: list[str]) -> dict[Key, float]:
    """Returns the turnaround of each job in a run."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as placed:
        run([*command, *more, "--placements", placed.name])
        return {key: job["end"] - job["submit"] for key, job in ended(placed.name).items()}


def cell(choice: dict[Key, float], other: dict[Key, float]) -> str:
    """Formats the ratio of two means over the same jobs, with its interval."""
    pairs = [(choice[key], other[key]) for key in in_both(choice, other)]
    ratio = sum(one for one, _ in pairs) / sum(two for _, two in pairs)
    ends = interval(pairs)
    return f"{ratio:.3f}" if ends is None else f"{ratio:.3f} ({ends[0]:.3f} to {ends[1]:.3f})"


def main() -> None:
    """Runs the logs and prints a row for each log and share."""
    end_with_reader()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--logs", default="")
    parser.add_argument("--kind", default="mesh")
    parser.add_argument("--shares", default="0.1,0.2,0.4")
    parser.add_argument("--pavior", default="pavior")
    arguments = parser.parse_args()
    logs = logs_of(arguments.logs)
    print(f"| log | f | {' | '.join(OTHERS)} |\n|---|---:|{'---:|' * len(OTHERS)}")
    for log, sides, more in logs:
        for share in arguments.shares.split(","):
            command = [arguments.pavior, "simulate", "--trace", f"{arguments.folder}/{log}.swf.gz", *more]
            command += ["--machine", f"{arguments.kind}:{sides}", "--communication", share, "--no-timing"]
            command += ["--pattern", "near-neighbour", "--ranks", "pattern", "--cycles-per-second", "10"]
            choice = turnarounds(command, CHOICE)
            cells = [cell(choice, turnarounds(command, other)) for other in OTHERS.values()]
            print(f"| {log.removesuffix('-cln')} | {share} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
