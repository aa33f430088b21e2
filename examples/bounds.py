#!/usr/bin/env python3
"""Checks the lower bounds that the yardstick certifies, using only the jobs and the prices.

    pavior yardstick --out yardstick
    examples/bounds.py yardstick/mesh-light

Reads jobs.json and bounds.json in a directory. A bound on a sum of weighted completion times is given as the price of a
node in each second. If each job starts when its completion and its nodes cost least, the sum of these costs, minus the
price of the whole machine, bounds every schedule. All numbers are integers. Prints the proven bounds.

Exits with status 1 if a claim is not proven, and 2 if a file cannot be read. Requires only Python 3.11, and shares no
code with Pavior.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from scripts import end_with_reader, unreadable


class Job(NamedTuple):
    """A job, with times in whole seconds."""

    release: int
    run: int
    nodes: int
    sides: str


def whole(value: object, least: int) -> int:
    """Checks that a value is a whole number not below `least`, and returns it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < least:
        raise ValueError(f"{value!r} is not a whole number from {least}")
    return int(value)


def jobs_of(workload: Any) -> list[Job]:
    """Returns the jobs in a Batsim workload."""
    runs = {name: whole(profile["delay"], 1) for name, profile in workload["profiles"].items()}
    found = []
    for job in workload["jobs"]:
        sides = "x".join(str(whole(side, 1)) for side in job.get("extra_data", {}).get("shape", []))
        found.append(Job(whole(job["subtime"], 0), runs[job["profile"]], whole(job["res"], 1), sides))
    return found


def checksum(jobs: list[Job]) -> str:
    """Returns the CRC-64/XZ checksum of a text with one line per job."""
    sum_ = 2**64 - 1
    for byte in "".join(f"{job.release} {job.run} {job.nodes} {job.sides}\n" for job in jobs).encode():
        sum_ ^= byte
        for _ in range(8):
            sum_ = sum_ >> 1 ^ (0xC96C5795D7870F42 if sum_ & 1 else 0)
    return f"{sum_ ^ 2**64 - 1:016x}"


def proven(jobs: list[Job], weights: list[int], capacity: int, scale: int, curve: Any) -> int:
    """Returns the bound that the prices prove, rounded down."""
    start, width = whole(curve["start"], 0), whole(curve["width"], 1)
    prices = [whole(price, 0) for price in curve["prices"]]
    edges = [start + width * bucket for bucket in range(len(prices) + 1)]
    sums = [0]
    for price in prices:
        sums.append(sums[-1] + price * width)

    def until(time: int) -> int:
        bucket = (time - start) // width
        if bucket < 0:
            return 0
        return sums[-1] if bucket >= len(prices) else sums[bucket] + prices[bucket] * (time - edges[bucket])

    total = -capacity * sums[-1]
    for job, weight in zip(jobs, weights):
        # Between these start times, the job's cost is linear.
        starts = {job.release, *edges, *(edge - job.run for edge in edges)}
        total += min(
            scale * weight * (at + job.run) + job.nodes * (until(at + job.run) - until(at))
            for at in starts
            if at >= job.release
        )
    return total // scale


def last(jobs: list[Job], capacity: int, proof: Any) -> int:
    """Returns a proven bound on the end of the last job: from one job, or from the work released after a time."""
    if "job" in proof:
        job = jobs[whole(proof["job"], 0)]
        return job.release + job.run
    late = [job for job in jobs if job.release >= whole(proof["from"], 0)]
    first = min(job.release for job in late)
    return first + -(-sum(job.run * job.nodes for job in late) // capacity)


def main() -> None:
    """Checks the certificates in a directory."""
    end_with_reader()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder, wrong = Path(sys.argv[1]), 0
    try:
        workload = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))
        jobs, capacity = jobs_of(workload), whole(workload["nb_res"], 1)
        certificate = json.loads((folder / "bounds.json").read_text(encoding="utf-8"))
        if certificate["sum"] != (found := checksum(jobs)):
            print(f"the certificate is for other jobs: {certificate['sum']}, not {found}")
            sys.exit(1)
        left_out = {whole(place, 0) for place in certificate["left_out"]}
        jobs = [job for place, job in enumerate(jobs) if place not in left_out]
        scale = whole(certificate["scale"], 1)
        weights = {"completions": [1] * len(jobs), "node_completions": [job.nodes for job in jobs]}
        for name in ["completions", "node_completions", "makespan"]:
            bound = certificate[name]
            if name == "makespan":
                found = last(jobs, capacity, bound["proof"])
            else:
                found = proven(jobs, weights[name], capacity, scale, bound["proof"])
            is_proven = whole(bound["claim"], 0) <= found
            wrong += not is_proven
            print(f"{name}: {bound['claim']} s {'is proven' if is_proven else f'is not proven: {found} s are'}")
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        unreadable(f"{folder}: {error!r}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
