#!/usr/bin/env python3
"""Compares two runs of the same jobs, given their placements, by ratios of means with intervals.

    pavior simulate --trace LOG --strategy tff --freedom turned --scheduler easy --placements turned.jsonl ...
    pavior simulate --trace LOG --strategy mbs --scheduler easy --placements mbs.jsonl ...
    examples/paired_runs.py turned.jsonl mbs.jsonl

For waiting, service and turnaround, prints both runs' means over the jobs that ended in both, the ratio of the first
mean to the second, and its 95% interval. Times are in the log's unit.

The interval comes from the moving block bootstrap (Künsch, Annals of Statistics 17(3), 1989) over pairs: blocks of
consecutive jobs, in order of submission, are drawn with replacement until they contain as many jobs as the runs. A
block's length is the square root of the number of jobs. The same blocks are drawn from both runs, so that effects
common to both cancel out. If the interval does not contain 1, the runs differ significantly, as far as blocks of this
length can show. The draws are always the same.

Exits with status 2 if a file does not contain placements, or fewer than 100 jobs ended in both runs. Requires only
Python 3.11.
"""

import math
import random
import sys
from collections.abc import Iterable
from itertools import accumulate

from placements import Job, read, whole
from scripts import end_with_reader, unreadable

SAMPLES = 999
# The indices of the two ends of the interval among the sorted ratios.
ENDS = (24, 974)
# With fewer jobs, the dependence between them cannot be estimated.
FEWEST = 100

SPANS = {"waiting": ("submit", "start"), "service": ("start", "end"), "turnaround": ("submit", "end")}


# A job's number, its submit time, and its index among the jobs with the same number and time.
Key = tuple[int | str, float, int]


def ended(path: str) -> dict[Key, Job]:
    """Returns the jobs that ended."""
    faults: list[str] = []
    jobs = whole(read(path), faults)
    if faults:
        unreadable(f"{path}: {faults[0]}")
    found: dict[Key, Job] = {}
    alike: dict[tuple[int | str, float], int] = {}
    for job in jobs:
        key = (job["job"], job["submit"])
        alike[key] = alike.get(key, 0) + 1
        if job["end"] is not None:
            found[*key, alike[key]] = job
    return found


def in_both(one: Iterable[Key], other: Iterable[Key]) -> list[Key]:
    """Returns the jobs that are in both runs, in order of submission."""
    return sorted(set(one) & set(other), key=lambda key: (key[1], str(key[0]).zfill(20), key[2]))


def interval(pairs: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Returns the 95% interval of the ratio of two means, or None if the second mean is 0 in any sample."""
    sums = [list(accumulate(column, initial=0.0)) for column in zip(*pairs, strict=True)]
    length = math.isqrt(len(pairs))
    blocks = -(-len(pairs) // length)
    draw = random.Random(1)
    ratios = []
    for _ in range(SAMPLES):
        firsts = [draw.randrange(len(pairs) - length + 1) for _ in range(blocks)]
        one, other = (sum(column[first + length] - column[first] for first in firsts) for column in sums)
        if other <= 0:
            return None
        ratios.append(one / other)
    ratios.sort()
    return ratios[ENDS[0]], ratios[ENDS[1]]


def main() -> None:
    """Compares two files and prints a line for each kind of time."""
    end_with_reader()
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    one, other = (ended(path) for path in sys.argv[1:])
    both = in_both(one, other)
    if len(both) < FEWEST:
        unreadable(f"{len(both)} jobs ended in both runs, at least {FEWEST} are needed")
    alone = len(one) + len(other) - 2 * len(both)
    print(f"{len(both)} jobs ended in both runs, {alone} in one alone")
    for name, (first, last) in SPANS.items():
        pairs = [(one[key][last] - one[key][first], other[key][last] - other[key][first]) for key in both]
        means = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
        ends = interval(pairs)
        ratio = "no ratio to 0" if means[1] == 0 else f"ratio {means[0] / means[1]:.4f}"
        within = "" if ends is None else f", {ends[0]:.4f} to {ends[1]:.4f}"
        print(f"{name}: {means[0]:.6g} and {means[1]:.6g}, {ratio}{within}")


if __name__ == "__main__":
    main()
