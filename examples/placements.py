#!/usr/bin/env python3
"""Recomputes a run's waiting times from its placements alone, and checks that no two jobs hold a node at the same time.

    pavior simulate --trace LOG --machine mesh:16x16 --strategy mbs --scheduler easy --placements placed.jsonl
    examples/placements.py placed.jsonl mesh:16x16 [jobs.json]

If a Batsim workload is also given, such as one from `pavior yardstick`, the placements are compared with its jobs: each
must occur once, with its submit time and run time, and on at least its number of nodes.

Prints a line for each fault, then the number of jobs and their mean wait, run time and turnaround. The faults are: two
jobs that overlap; a job that holds a node twice, a node outside the machine, or a number of nodes that differs from its
"nodes" (all granted nodes, including those beyond the request); a job that starts before it is submitted, or ends
before it starts; and a job that moves but does not continue immediately with as many nodes. A job that moves has a line
for each stay; those after the first have "moved": 1, 2, and so on. If a base or sides have fewer axes than the machine,
the missing coordinates are 0 and the missing sides 1.

Exits with status 1 if there are faults, and 2 if the file does not contain placements. Requires only Python 3.11;
shares no code with Pavior.
"""

import itertools
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from scripts import end_with_reader, unreadable

Job = dict[str, Any]
Node = tuple[int, ...]

# The order of events at one instant. A job with zero run time holds its nodes for no time, but no job that started
# earlier and is still running may hold them.
ENDS, PASSES, STARTS = range(3)


class Machine(NamedTuple):
    """A machine's sides, and True for each axis that wraps around."""

    sides: list[int]
    wraps: list[bool]


def machine_of(text: str) -> Machine:
    """Parses a machine name, such as mesh:16x16, torus:8x8x8 or grid:8wx4x4w."""
    kind, _, written = text.partition(":")
    axes = [re.fullmatch(r"([1-9]\d*)(w?)", axis) for axis in written.split("x")]
    found = [(int(axis[1]), axis[2] == "w") for axis in axes if axis]
    marked = any(wrap for _, wrap in found)
    if kind not in ("mesh", "torus", "grid") or len(found) != len(axes) or (marked and kind != "grid"):
        unreadable(f"{text} is not a machine; they are written mesh:16x16, torus:8x8x8 or grid:8wx4x4w")
    return Machine([side for side, _ in found], [wrap or kind == "torus" for _, wrap in found])


def is_whole(value: object) -> bool:
    """Returns True if a value is a whole number. A boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_time(value: object) -> bool:
    """Returns True if a value is a number that can be averaged."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300


def is_part(part: object) -> bool:
    """Returns True if a value has the structure of a part, whether or not its numbers make sense."""
    if not isinstance(part, dict):
        return False
    lists = [part.get("base"), part.get("sides")]
    return all(isinstance(one, list) and all(is_whole(number) for number in one) for one in lists)


def lacks(job: object) -> str | None:
    """Returns the reason why a value is not a placement, or None if it is one."""
    if not isinstance(job, dict):
        return "no object"
    goes_on = "end" in job and job["end"] is None
    if not all(is_time(job.get(name)) for name in ["submit", "start", "end"] if not (goes_on and name == "end")):
        return '"submit", "start" and "end" must be numbers; "end" may be null'
    if not (is_whole(job.get("job")) or isinstance(job.get("job"), str)):
        return '"job" must be a whole number or a string'
    if not is_whole(job.get("nodes")):
        return '"nodes" must be a whole number'
    if "moved" in job and not (is_whole(job["moved"]) and job["moved"] > 0):
        return '"moved" must be a whole number from 1'
    parts = job.get("parts")
    if not isinstance(parts, list) or not all(is_part(part) for part in parts):
        return '"parts" must be a list of {"base":[...],"sides":[...]}'
    return None


def no_number(word: str) -> NoReturn:
    """Rejects words that Python accepts as numbers but JSON does not."""
    raise ValueError(f"{word} is not a number")


def read(path: str) -> list[Job]:
    """Returns the placements in a file, ignoring blank lines."""
    jobs = []
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    job = json.loads(line, parse_constant=no_number)
                except (ValueError, RecursionError) as error:
                    unreadable(f"{path}, line {number}: {error}")
                if (why := lacks(job)) is not None:
                    unreadable(f"{path}, line {number}: {why}")
                jobs.append(job)
    except (OSError, UnicodeDecodeError) as error:
        unreadable(f"{path}: {error}")
    if not jobs:
        unreadable(f"{path}: no placements")
    return jobs


def nodes(part: dict[str, list[int]], machine: Machine) -> Iterator[Node]:
    """Returns the nodes in a box. Only on an axis that wraps around may the box extend past the end."""
    axes = len(machine.sides)
    base, lengths = part["base"], part["sides"]
    if max(len(base), len(lengths)) > axes:
        raise ValueError(f"{part} has more axes than the machine")
    if any(length < 1 for length in lengths):
        raise ValueError(f"{part} has a side below 1")
    base = base + [0] * (axes - len(base))
    lengths = lengths + [1] * (axes - len(lengths))
    along = []
    for first, length, side, wrap in zip(base, lengths, machine.sides, machine.wraps):
        if not 0 <= first < side or length > side or (first + length > side and not wrap):
            raise ValueError(f"{part} is outside the machine")
        along.append([(first + step) % side for step in range(length)])
    return itertools.product(*along)


def place(job: Job, machine: Machine, faults: list[str]) -> set[Node]:
    """Returns the nodes that a job holds, except those in invalid parts."""
    held: set[Node] = set()
    count = 0
    sound = True
    for part in job["parts"]:
        try:
            more = set(nodes(part, machine))
        except ValueError as error:
            faults.append(f"job {job['job']}: {error}")
            sound = False
            continue
        count += len(more)
        if twice := held & more:
            faults.append(f"job {job['job']} holds {listed(twice)} twice")
        held |= more
    # If a part is invalid, the intended number of nodes is unknown.
    if sound and (count != job["nodes"] or count < 1):
        faults.append(f"job {job['job']} has {job['nodes']} nodes, and parts of {count}")
    return held


def listed(several: set[Node]) -> str:
    """Formats the first few nodes and the number of others."""
    more = f" and {len(several) - 1} more" if len(several) > 1 else ""
    return f"{list(min(several))}{more}"


def events(jobs: list[Job], faults: list[str]) -> list[tuple[float, int, int]]:
    """Returns when jobs start and end, in order, each time with the job's index."""
    found: list[tuple[float, int, int]] = []
    for index, job in enumerate(jobs):
        name, start, end = job["job"], job["start"], job["end"]
        if start < job["submit"]:
            faults.append(f"job {name} starts at {start}, before it is submitted at {job['submit']}")
        if end is not None and end < start:
            faults.append(f"job {name} ends at {end}, before it starts at {start}")
        if end is not None and end <= start:
            found.append((start, PASSES, index))
            continue
        found.append((start, STARTS, index))
        if end is not None:
            found.append((end, ENDS, index))
    return sorted(found)


def check_nodes(jobs: list[Job], machine: Machine, faults: list[str]) -> None:
    """Finds jobs with wrong times or places, and jobs that hold the same node at the same time."""
    holders: dict[Node, int] = {}
    places: dict[int, set[Node]] = {}
    for time, kind, index in events(jobs, faults):
        if kind == ENDS:
            for node in places.pop(index):
                if holders.get(node) == index:
                    del holders[node]
            continue
        held = place(jobs[index], machine, faults)
        shared: dict[int, set[Node]] = {}
        for node in held:
            if node in holders:
                shared.setdefault(holders[node], set()).add(node)
            elif kind == STARTS:
                holders[node] = index
        for other, both in shared.items():
            names = f"{jobs[other]['job']} and {jobs[index]['job']}"
            faults.append(f"at {time} the jobs {names} both hold {listed(both)}")
        if kind == STARTS:
            places[index] = held


def whole(jobs: list[Job], faults: list[str]) -> list[Job]:
    """Returns the jobs, each from its first to its last stay. Finds stays that do not continue an earlier one."""
    found: list[Job] = []
    # Jobs with the same number and submit time are different jobs.
    alike: dict[tuple[int | str, float], list[Job]] = {}
    for stay in sorted(jobs, key=lambda stay: (stay["start"], stay.get("moved", 0))):
        befores = alike.setdefault((stay["job"], stay["submit"]), [])
        if "moved" not in stay:
            found.append(stay | {"moved": 0})
            befores.append(found[-1])
            continue
        going_on = {"end": stay["start"], "nodes": stay["nodes"], "moved": stay["moved"] - 1}
        before = next((job for job in befores if job | going_on == job), None)
        if before is not None:
            before.update(end=stay["end"], moved=stay["moved"])
            continue
        why = "does not continue as it was" if befores else "has no earlier stay"
        faults.append(f"job {stay['job']} moves at {stay['start']}, and {why}")
    return found


def wanted(path: str) -> dict[str, tuple[float, float, int]]:
    """Returns each job's submit time, run time and number of nodes in a workload, by name."""
    try:
        with open(path, encoding="utf-8") as text:
            workload = json.load(text, parse_constant=no_number)
        runs = {name: profile["delay"] for name, profile in workload["profiles"].items()}
        found = {str(job["id"]): (job["subtime"], runs[job["profile"]], job["res"]) for job in workload["jobs"]}
        if len(found) != len(workload["jobs"]):
            unreadable(f"{path}: two jobs have the same name")
        if not all(is_time(submit) and is_time(run) and is_whole(asked) for submit, run, asked in found.values()):
            unreadable(f"{path}: a time or a number of nodes is not a number")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        unreadable(f"{path}: {error!r}")
    return found


def check_jobs(jobs: list[Job], asked: dict[str, tuple[float, float, int]], faults: list[str]) -> None:
    """Finds jobs that differ from those in a workload, or are missing."""
    left = dict(asked)
    for job in jobs:
        name = str(job["job"])
        if (of_workload := left.pop(name, None)) is None:
            faults.append(f"job {name} {'occurs twice' if name in asked else 'is not in the workload'}")
            continue
        submit, run, count = of_workload
        if not same(job["submit"], submit):
            faults.append(f"job {name} is submitted at {job['submit']}, not at {submit}")
        if job["nodes"] < count:
            faults.append(f"job {name} has {job['nodes']} nodes of {count}")
        if job["end"] is not None and job["end"] - job["start"] < run and not same(job["end"] - job["start"], run):
            faults.append(f"job {name} runs for {job['end'] - job['start']} of {run}")
    faults.extend(f"job {name} never starts" for name in left)


def same(one: float, other: float) -> bool:
    """Returns True if two times differ only by rounding."""
    return abs(one - other) <= 1e-6 * max(1.0, abs(other))


def main() -> None:
    """Checks a file and prints the results."""
    end_with_reader()
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    machine = machine_of(sys.argv[2])
    stays = read(sys.argv[1])
    faults: list[str] = []
    check_nodes(stays, machine, faults)
    jobs = whole(stays, faults)
    if len(sys.argv) == 4:
        check_jobs(jobs, wanted(sys.argv[3]), faults)
    for fault in faults:
        print(fault)
    done = [job for job in jobs if job["end"] is not None]
    print(f"{len(jobs)} jobs started, {len(done)} of them ended, {len(faults)} faults")
    if done:
        spans = [("waiting", "submit", "start"), ("service", "start", "end"), ("turnaround", "submit", "end")]
        for name, first, last in spans:
            print(f"{name}: {sum(job[last] - job[first] for job in done) / len(done)}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
