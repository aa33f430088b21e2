#!/usr/bin/env python3
"""Recomputes the waiting of a run from its placements alone, and checks that no two jobs hold a node at once.

    pavior simulate --trace LOG --machine mesh:16x16 --strategy mbs --scheduler easy --placements placed.jsonl
    examples/placements.py placed.jsonl mesh:16x16

Prints the jobs, their mean waiting, run time and turnaround, and exits with status 1 if two jobs overlap, a job holds a
node twice or one outside the machine, starts before it is submitted, or moves but does not go on at once with as many
nodes. A job that moves has a line for each of its stays, those behind the first with "moved": 1, 2, and so on.
Needs Python 3 alone; shares no code with Pavior.
"""

import itertools
import json
import re
import sys


def sides_and_wraps(machine):
    """The sides of a machine, and which of its axes wrap."""
    kind, _, text = machine.partition(":")
    sides = re.findall(r"(\d+)(w?)", text)
    wraps = [kind == "torus" or (kind == "grid" and wrap == "w") for _, wrap in sides]
    return [int(side) for side, _ in sides], wraps


def nodes(part, sides, wraps):
    """The coordinates of the nodes of a box; one that passes the end of an axis that does not wrap is outside."""
    along = []
    for base, length, side, wrap in zip(part["base"], part["sides"], sides, wraps):
        if not 0 <= base < side or length > side or (base + length > side and not wrap):
            raise ValueError(f"{part} is outside the machine")
        along.append([(base + step) % side for step in range(length)])
    return itertools.product(*along)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sides, wraps = sides_and_wraps(sys.argv[2])
    with open(sys.argv[1]) as lines:
        jobs = [json.loads(line) for line in lines]
    faults = 0
    events = []
    for index, job in enumerate(jobs):
        if job["start"] < job["submit"]:
            faults += 1
            print(f"job {job['job']} starts at {job['start']}, before it is submitted at {job['submit']}")
        # What ends at an instant ends before what starts; a job of no length holds its nodes for none.
        if job["end"] is None or job["end"] > job["start"]:
            events.append((job["start"], 1, index))
            if job["end"] is not None:
                events.append((job["end"], 0, index))
    holders = {}
    for time, starts, index in sorted(events):
        job = jobs[index]
        held = [node for part in job["parts"] for node in nodes(part, sides, wraps)]
        if len(held) != job["nodes"]:
            faults += 1
            print(f"job {job['job']} has {job['nodes']} nodes, and parts of {len(held)}")
        for node in held:
            if not starts:
                if holders.get(node) == index:
                    del holders[node]
            elif node in holders:
                faults += 1
                other = jobs[holders[node]]["job"]
                print(f"at {time} the jobs {other} and {job['job']} both hold {list(node)}")
            else:
                holders[node] = index
    stays = {}
    for job in jobs:
        stays.setdefault((job["job"], job["submit"]), []).append(job)
    whole = []
    for held in stays.values():
        held.sort(key=lambda stay: (stay["start"], stay.get("moved", 0)))
        for before, after in zip(held, held[1:]):
            if "moved" not in after:
                continue
            if before["end"] != after["start"] or before["nodes"] != after["nodes"]:
                faults += 1
                print(f"job {after['job']} moves at {after['start']}, and does not go on as it was")
        # Jobs of one number submitted together are jobs of their own; those that moved go on in later lines.
        for stay in held:
            if "moved" in stay:
                whole[-1]["end"] = stay["end"]
            else:
                whole.append(dict(stay))
    jobs = whole
    done = [job for job in jobs if job["end"] is not None]
    print(f"{len(jobs)} jobs started, {len(done)} of them ended, {faults} faults")
    if done:
        for name, first, last in [("waiting", "submit", "start"), ("service", "start", "end"), ("turnaround", "submit", "end")]:
            print(f"{name}: {sum(job[last] - job[first] for job in done) / len(done)}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
