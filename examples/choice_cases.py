#!/usr/bin/env python3
"""Counts the cases in which choosing job by job is as good as the best fixed freedom, with shifted submissions.

    examples/choice_cases.py FOLDER runs.csv [--logs KTH,SDSC-SP2] [--shifts 10] [--skip 0.5]
                                             [--estimates log] [--pavior pavior]
    examples/choice_cases.py --cases runs.csv > cases.csv

A case consists of a log in the directory (named as in the Parallel Workloads Archive), a mesh or torus, and a share f
of near-neighbour communication. The first form takes a window from each log and delays each submission by a random time
of at most 60 s, which differs between shifts. It runs `bf:turn=all` under `easy-freedom` and, under `easy`, every fixed
freedom (`tff`) and `bf:turn=all`. It adds a line to the file for each run, and skips runs that are already there. The
second form writes a line for each case: the mean turnaround of each run, and the ratio of the choice's turnaround to
that of the best fixed freedom, with its standard error over the shifts. It also prints, on standard error, how many
cases have low ratios. Requires Python 3.11 and the `pavior` binary.
"""

import argparse
import csv
import gzip
import json
import random
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, stdev

from freedom import LOGS, logs_of
from scripts import end_with_reader, number, rows, run, unreadable

CHOICE = ("bf:turn=all", "easy-freedom", None)
FIXED = {
    **{word: ("tff", "easy", word) for word in ("box", "turned", "any-box", "connected", "any")},
    "bf:turn=all": ("bf:turn=all", "easy", None),
}
RUNS = {"choice": CHOICE, **FIXED}
SHARES = ["0.1", "0.2", "0.4"]
KINDS = ["mesh", "torus"]
# The number of jobs in a window. Networks with 10,000 nodes or more are slow to simulate.
JOBS = 2000
JOBS_OF_LARGE = 600
LARGE = ("LLNL-Atlas", "CEA-Curie")
# The maximum time by which a submission is shifted, in seconds.
LONGEST_SHIFT = 60

FIELDS = ["log", "machine", "f", "shift", "choice", "turnaround"]
Case = tuple[str, str, str]


def window(source: Path, keep: list[str], skip: float, jobs: int) -> list[list[str]]:
    """Returns the fields of the job lines in a window that begins after a given share of the log."""
    partition = keep[1].split("=")[1] if keep else None
    with gzip.open(source, "rt", encoding="utf-8", errors="replace") as lines:
        words = [line.split() for line in lines if not line.startswith(";")]
    kept = [line for line in words if len(line) == 18 and partition in (None, line[15])]
    first = int(skip * len(kept))
    return kept[first : first + jobs]


def shifted(jobs: list[list[str]], seed: int, target: Path) -> None:
    """Writes a log in which each submission is delayed by up to a minute."""
    draw = random.Random(seed)
    later = [[line[0], str(int(line[1]) + draw.randint(0, LONGEST_SHIFT)), *line[2:]] for line in jobs]
    # Lines without a run time or nodes are skipped.
    later = [line for line in later if float(line[3]) >= 0 and max(int(line[4]), int(line[7])) > 0]
    later.sort(key=lambda line: int(line[1]))
    target.write_text("".join(" ".join(line) + "\n" for line in later), encoding="utf-8")


def turnaround(pavior: list[str], trace: Path, machine: str, share: str, choice: str) -> float:
    """Returns a run's mean turnaround, in seconds."""
    strategy, scheduler, freedom = RUNS[choice]
    command = [*pavior, "--trace", str(trace), "--machine", machine, "--strategy", strategy]
    command += ["--scheduler", scheduler, "--communication", share, "--pattern", "near-neighbour", "--ranks", "pattern"]
    command += ["--cycles-per-second", "10", "--no-timing", "--format", "json", "--threads", "1"]
    command += ["--metrics", "turnaround", *(["--freedom", freedom] if freedom else [])]
    return float(json.loads(run(command))["results"][0]["metrics"]["turnaround"]["mean"])


def run_all(arguments: argparse.Namespace) -> None:
    """Makes all runs that are missing from the file, two at a time."""
    out = Path(arguments.runs)
    known = {tuple(row[field] for field in FIELDS[:-1]) for row in rows(out, FIELDS)} if out.exists() else set()
    chosen = arguments.choices.split(",") if arguments.choices else list(RUNS)
    if wrong := [name for name in chosen if name not in RUNS]:
        unreadable(f"no choice {', '.join(wrong)}; they are {', '.join(RUNS)}")
    simulate = [arguments.pavior, "simulate", "--estimates", arguments.estimates]
    logs = logs_of(arguments.logs)
    with tempfile.TemporaryDirectory() as folder, out.open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if not known:
            table.writerow(FIELDS)
        todo = []
        for log, sides, keep in logs:
            jobs = JOBS_OF_LARGE if log.startswith(LARGE) else JOBS
            lines = window(Path(arguments.folder) / f"{log}.swf.gz", keep, arguments.skip, jobs)
            for shift in range(arguments.shifts):
                trace = Path(folder) / f"{log}-{shift}.swf"
                shifted(lines, shift, trace)
                cases = [(f"{kind}:{sides}", share, choice) for kind in KINDS for share in SHARES for choice in chosen]
                for machine, share, choice in cases:
                    key = (log, machine, share, str(shift), choice)
                    if key not in known:
                        todo.append((key, trace))

        def one(task: tuple[tuple[str, ...], Path]) -> list[str]:
            (log, machine, share, shift, choice), trace = task
            mean = turnaround(simulate, trace, machine, share, choice)
            return [log, machine, share, shift, choice, f"{mean:.3f}"]

        with ThreadPoolExecutor(2) as threads:
            for row in threads.map(one, todo):
                table.writerow(row)
                file.flush()


def cases_of(path: Path) -> dict[Case, dict[str, list[float]]]:
    """Returns the turnarounds of each run in a case, for those shifts that all runs have."""
    found: dict[Case, dict[str, dict[str, float]]] = defaultdict(lambda: {name: {} for name in RUNS})
    for row in rows(path, FIELDS):
        if row["choice"] not in RUNS:
            unreadable(f"{path}: no choice {row['choice']}")
        found[row["log"], row["machine"], row["f"]][row["choice"]][row["shift"]] = number(row["turnaround"])
    cases = {}
    for case, runs in found.items():
        shifts = sorted(set.intersection(*(set(by_shift) for by_shift in runs.values())))
        if shifts:
            cases[case] = {name: [by_shift[shift] for shift in shifts] for name, by_shift in runs.items()}
    return cases


def compared(one: list[float], other: list[float]) -> tuple[float, str]:
    """Returns the ratio of two means over the same shifts, and its standard error if there are several."""
    ratio = fmean(one) / fmean(other)
    if len(one) < 2:
        return ratio, ""
    left = [a - ratio * b for a, b in zip(one, other, strict=True)]
    return ratio, f"{stdev(left) / len(left) ** 0.5 / fmean(other):.4f}"


def write_cases(path: Path) -> None:
    """Writes a line for each case, then a summary."""
    cases = cases_of(path)
    if not cases:
        unreadable(f"{path}: no case with all of {', '.join(RUNS)}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["log", "machine", "f", "shifts", *(f"{name}_h" for name in RUNS), "best", "ratio", "error"])
    ratios = []
    for (log, machine, share), runs in cases.items():
        best = min(FIXED, key=lambda name: fmean(runs[name]))
        ratio, error = compared(runs["choice"], runs[best])
        hours = [f"{fmean(runs[name]) / 3600:.4f}" for name in RUNS]
        shifts = len(runs["choice"])
        out.writerow([log.removesuffix("-cln"), machine, share, shifts, *hours, best, f"{ratio:.4f}", error])
        ratios.append(ratio)
    for most in (1.0, 1.02, 1.1):
        within = sum(ratio <= most for ratio in ratios)
        print(f"{within} of {len(ratios)} cases at most {most:.2f}; the worst {max(ratios):.3f}", file=sys.stderr)


def main() -> None:
    """Runs the cases, or summarizes them."""
    end_with_reader()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("runs", nargs="?")
    parser.add_argument("--logs")
    parser.add_argument("--shifts", type=int, default=10)
    parser.add_argument("--skip", type=float, default=0.5)
    parser.add_argument("--choices")
    parser.add_argument("--estimates", default="log")
    parser.add_argument("--pavior", default="pavior")
    parser.add_argument("--cases", type=Path)
    arguments = parser.parse_args()
    if arguments.cases:
        write_cases(arguments.cases)
    elif arguments.folder and arguments.runs:
        run_all(arguments)
    else:
        parser.error("give the folder of the logs and a file, or --cases")


if __name__ == "__main__":
    main()
