#!/usr/bin/env python3
"""Replays logs open and closed: does feedback change which strategy and scheduler is best?

    examples/feedback.py FOLDER feedback.csv [PAVIOR]

Reads three logs from the Parallel Workloads Archive in FOLDER (.swf.gz), and adds users' sessions to the first jobs of
each (`pavior trace convert --sessions 20m`). Each strategy runs under each scheduler twice: open, with the log's submit
times, and closed (`--dependencies`), where a job is submitted after the one that it follows. PAVIOR is the program
(default: target/release/pavior).

Writes a row for each run, with its mean wait and its rank among the runs on the same log (equal means share a rank).
Waits are paired by job number: the ratio of the mean to that of `tff` under `easy` has a 95% interval from the moving
block bootstrap in paired_runs.py. Prints, as Markdown, how the two rankings differ on each log: Kendall's tau, the
pairs in opposite order, and the pairs whose intervals show opposite orders.

Requires only Python 3.11.
"""

import csv
import sys
import tempfile
from itertools import combinations
from pathlib import Path

from paired_runs import interval
from placements import read, whole
from scripts import end_with_reader, run, unreadable

LOGS = {
    "SDSC-Par-1996-3.1-cln": ("mesh:16x22", ["--filter", "partition=2"]),
    "KTH-SP2-1996-2.1-cln": ("mesh:10x10", []),
    "SDSC-SP2-1998-4.2-cln": ("mesh:16x8", []),
}
STRATEGIES = ["ff", "tff", "gradient", "gabl", "mbs"]
SCHEDULERS = ["fcfs", "easy", "sjf"]
REFERENCE = ("easy", "tff")
FIRST = "20000"

Waits = dict[int | str, float]
Point = tuple[str, str]


def waits(path: Path) -> Waits:
    """Returns the waits of all jobs that ended, in hours, by job number."""
    faults: list[str] = []
    jobs = whole(read(str(path)), faults)
    if faults:
        unreadable(f"{path}: {faults[0]}")
    return {job["job"]: (job["start"] - job["submit"]) / 3600 for job in jobs if job["end"] is not None}


def runs(pavior: str, log: Path, machine: str, closed: bool, folder: Path) -> dict[Point, Waits]:
    """Runs every strategy under every scheduler."""
    command = [pavior, "simulate", "--trace", str(log), "--machine", machine, "--no-timing", "--metrics", "waiting"]
    command += ["--strategy", ",".join(STRATEGIES), "--scheduler", ",".join(SCHEDULERS)]
    command += ["--placements", f"{folder}/{{scheduler}}-{{strategy}}.jsonl", *["--dependencies"] * closed]
    run(command)
    points = [(scheduler, strategy) for scheduler in SCHEDULERS for strategy in STRATEGIES]
    return {point: waits(folder / f"{point[0]}-{point[1]}.jsonl") for point in points}


def ratio(one: Waits, other: Waits) -> tuple[float, tuple[float, float] | None]:
    """Returns the ratio of the mean waits over the jobs in both runs, and its interval."""
    both = sorted(set(one) & set(other), key=lambda job: str(job).zfill(20))
    pairs = [(one[job], other[job]) for job in both]
    first, second = (sum(column) for column in zip(*pairs, strict=True))
    return first / second if second else float("nan"), interval(pairs)


def shown(ends: tuple[float, float] | None) -> int:
    """Returns -1 if an interval is below 1, 1 if it is above 1, otherwise 0."""
    return 0 if ends is None else (ends[0] > 1) - (ends[1] < 1)


def compare(name: str, means: list[dict[Point, float]], found: list[dict[Point, Waits]]) -> str:
    """Returns a table row that compares the open and the closed ranking on a log."""
    opposite = contradicted = 0
    pairs = list(combinations(means[0], 2))
    for one, other in pairs:
        order = [mean[one] < mean[other] for mean in means]
        if order[0] != order[1]:
            opposite += 1
            signs = {shown(ratio(waits[one], waits[other])[1]) for waits in found}
            contradicted += signs == {-1, 1}
    tau = 1 - 2 * opposite / len(pairs)
    best = [min(mean, key=lambda point: mean[point]) for mean in means]
    cells = [f"`{strategy}`, `{scheduler}`" for scheduler, strategy in best]
    spread = [max(mean.values()) / min(mean.values()) for mean in means]
    numbers = f"{tau:.2f} | {opposite} | {contradicted}"
    return f"| {name} | {numbers} | {' | '.join(cells)} | {spread[0]:.1f} | {spread[1]:.1f} |"


def main() -> None:
    """Runs everything and writes the table."""
    end_with_reader()
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    logs, pavior = Path(sys.argv[1]), (sys.argv[3:] or ["target/release/pavior"])[0]
    heads = ["log", "tau", "opposite", "shown", "best open", "best closed", "worst / best open", "closed"]
    print(f"| {' | '.join(heads)} |\n|---|---:|---:|---:|---|---|---:|---:|")
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as out, tempfile.TemporaryDirectory() as scratch:
        table = csv.writer(out, lineterminator="\n")
        table.writerow("log,replay,scheduler,strategy,jobs,waiting_h,rank,ratio,ratio_low,ratio_high".split(","))
        for name, (machine, options) in LOGS.items():
            folder = Path(scratch)
            log = folder / f"{name}.swf"
            run([pavior, "trace", "convert", "--sessions", "20m", "--first", FIRST, *options,
                 str(logs / f"{name}.swf.gz"), str(log)])
            found = [runs(pavior, log, machine, closed, folder) for closed in (False, True)]
            means = [{point: sum(own.values()) / len(own) for point, own in one.items()} for one in found]
            for replay, one, mean in zip(("open", "closed"), found, means, strict=True):
                ranks = {point: 1 + sum(other < own for other in mean.values()) for point, own in mean.items()}
                for point, own in one.items():
                    value, ends = ratio(own, one[REFERENCE])
                    cells = [f"{number:.4f}" for number in (value, *(ends or ()))]
                    table.writerow([name, replay, *point, len(own), f"{mean[point]:.4f}", ranks[point], *cells])
            print(compare(name, means, found), flush=True)


if __name__ == "__main__":
    main()
