#!/usr/bin/env python3
"""Shows what each freedom of placement gains on each log, step by step and in total; what messages cost; the share of
communication above which one freedom is no longer better than another; and how close choosing job by job comes to the
best fixed freedom.

    examples/break_even.py reproduction-contiguity/results.csv ... [--scheduler scan-all] [--pattern ring]
                           [--moves migration.csv]

Reads the results of `pavior reproduce contiguity`, from one run or several parts, and prints five Markdown tables. A
cell is empty if a run is missing. If there are several patterns, only the given one is used. A parameter that does not
vary in a run has no column, so it is read from the experiment next to the results. The gain from free moves comes from
a file written by `examples/freedom.py FOLDER --migration 0`, with runs under `easy`. Exits with status 2 if a file does
not contain results, or none of them match the scheduler and the pattern. Requires only Python 3.11.
"""

import argparse
import math
import tomllib
from pathlib import Path

from scripts import end_with_reader, number, rows, unreadable

FREEDOMS = ["box", "turned", "any-box", "connected", "any", "mbs"]
# The strategy that places boxes when the freedom is chosen job by job.
BOXES = "bf:turn=all"
FIXED = [*FREEDOMS, BOXES]
CHOICE = "easy-freedom"
# The steps from boxes as requested to any nodes: each has a name, and the freedoms before and after it.
STEPS = [
    ("turning", "box", "turned"),
    ("any shape", "turned", "any-box"),
    ("connected", "any-box", "connected"),
    ("any nodes", "connected", "any"),
]
RESULTS = ["machine", "strategy", "scheduler", "metric", "mean"]
METRICS = ["waiting", "service", "turnaround"]
WATERFALL = ["`box`", *(name for name, _, _ in STEPS), "`any`", "`mbs`", "wrap", "free moves"]

Metrics = dict[str, float]
Shares = dict[float, dict[str, Metrics]]
Found = dict[tuple[str, str], Shares]


def read(paths: list[Path], scheduler: str, pattern: str) -> Found:
    """Returns the means in hours, by log, machine, share of communication, freedom and metric."""
    found: Found = {}
    schedulers = set()
    for path in paths:
        alike = unvaried(path.with_name("experiment.toml"))
        for given in rows(path, RESULTS):
            row = alike | given
            chosen = row["scheduler"] == CHOICE
            if not row["mean"] or not (chosen or row["scheduler"] == scheduler):
                continue
            if row["pattern"] != pattern:
                continue
            schedulers.add(row["scheduler"])
            shares = found.setdefault((log_of(row["trace"]), row["machine"]), {})
            freedoms = shares.setdefault(number(row["communication"]), {})
            name = "pays" if chosen else row.get("freedom") or row["strategy"]
            freedoms.setdefault(name, {})[row["metric"]] = number(row["mean"]) / 3600
    # Results with the job-by-job choice alone are enough only if it is the requested scheduler.
    if scheduler not in schedulers:
        unreadable(f"no results under {scheduler} with the pattern {pattern}")
    for shares in found.values():
        for freedoms in shares.values():
            for name, metrics in freedoms.items():
                if missing := [metric for metric in METRICS if metric not in metrics]:
                    unreadable(f"no {', '.join(missing)} of {name}")
    return dict(sorted(found.items()))


def log_of(trace: str) -> str:
    """Returns a log's name without its directory and version."""
    return trace.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".swf").rsplit("-", 2)[0]


def add_moves(found: Found, path: Path) -> None:
    """Adds free moves as a freedom if the file has the same jobs, which it does if waits in rotated boxes are equal."""
    waits: dict[tuple[str, str, str], dict[str, float]] = {}
    # The file may consist of several runs, each with its own header.
    for row in rows(path, ["log", "machine", "first", "choice", "waiting"]):
        if row["waiting"]:
            case = (log_of(row["log"]), row["machine"], row["first"])
            waits.setdefault(case, {})[row["choice"]] = number(row["waiting"]) / 3600
    if not any("moves 0" in choices for choices in waits.values()):
        unreadable(f"{path}: no free moves")
    for (log, machine, _), choices in waits.items():
        freedoms = found.get((log, machine), {}).get(0.0, {})
        if "turned" not in freedoms or "moves 0" not in choices:
            continue
        turned = freedoms["turned"]["waiting"]
        if math.isclose(choices.get("turned", turned), turned, rel_tol=1e-6):
            freedoms["moves"] = {"waiting": choices["moves 0"]}


def unvaried(path: Path) -> dict[str, str]:
    """Returns an experiment's log, pattern and share of communication, for results without these columns."""
    try:
        experiment = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        unreadable(f"{path}: {error}")
    found = {"trace": path.parent.name, "pattern": "near-neighbour", "communication": "0"}
    for part in [experiment, *experiment.get("sweep", [])]:
        for key in found.keys() & part.keys():
            value = part[key]
            found[key] = str(value[0] if isinstance(value, list) else value)
    return found


def table(head: list[str], words: int, rows: list[list[str]]) -> None:
    """Prints a table in which columns after the first `words` contain numbers. Leaves out rows without any number."""
    print("|", " | ".join(head), "|")
    print("|" + "---|" * words + "---:|" * (len(head) - words))
    for row in rows:
        if any(row[words:]):
            print("|", " | ".join(row), "|")
    print()


def waiting(metrics: Metrics | None) -> str:
    """Formats the mean wait and the half-width of its interval."""
    if not metrics:
        return ""
    return f"{metrics['waiting']:.3g} ± {metrics.get('waiting_error', 0.0):.2g}"


def taken_off(before: Metrics | None, after: Metrics | None) -> str:
    """Formats the decrease in the mean wait after a step."""
    return f"{before['waiting'] - after['waiting']:.3g}" if before and after else ""


def waterfall(found: Found, log: str, machine: str) -> list[str]:
    """Returns the steps from boxes on a mesh to counting nodes, and two other improvements on rotated boxes."""
    mesh = found[log, machine].get(0.0, {})
    torus = found.get((log, machine.replace("mesh:", "torus:")), {}).get(0.0, {})
    hours = {one: f"{mesh[one]['waiting']:.3g}" if one in mesh else "" for one in ["box", "any", "mbs"]}
    return [
        hours["box"],
        *(taken_off(mesh.get(before), mesh.get(after)) for _, before, after in STEPS),
        hours["any"],
        hours["mbs"],
        taken_off(mesh.get("turned"), torus.get("turned")),
        taken_off(mesh.get("turned"), mesh.get("moves")),
    ]


def turnaround(metrics: Metrics | None) -> str:
    """Formats the mean turnaround."""
    return f"{metrics['turnaround']:.3g}" if metrics else ""


def break_even(shares: Shares, one: str, other: str) -> str:
    """Returns the share at which `one` stops having less turnaround than `other`, by linear interpolation."""
    before: tuple[float, float] | None = None
    known = [share for share in sorted(shares) if one in shares[share] and other in shares[share]]
    if len(known) < 2:
        return ""
    for share in known:
        gap = shares[share][one]["turnaround"] - shares[share][other]["turnaround"]
        if gap > 0:
            if before is None:
                return "never better"
            return f"{before[0] + (share - before[0]) * before[1] / (before[1] - gap):.2f}"
        before = (share, gap)
    return f"above {max(known):g}"


def choice(freedoms: dict[str, Metrics]) -> list[str]:
    """Compares choosing job by job with counting nodes, boxes as requested, and the best fixed strategy."""
    if "pays" not in freedoms or not all(one in freedoms for one in FIXED):
        return [""] * 3
    pays = freedoms["pays"]
    best = min(FIXED, key=lambda one: freedoms[one]["turnaround"])
    count = freedoms["mbs"]["waiting"]
    return [
        f"{pays['waiting'] / count:.2f}" if count > 0 else "",
        f"{pays['service'] / freedoms['box']['service']:.2f}",
        f"{pays['turnaround'] / freedoms[best]['turnaround']:.2f} (`{best}`)",
    ]


def main() -> None:
    """Reads the results and prints their tables."""
    end_with_reader()
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("results", nargs="+", type=Path)
    arguments.add_argument("--scheduler", default="easy")
    arguments.add_argument("--pattern", default="near-neighbour")
    arguments.add_argument("--moves", type=Path)
    given = arguments.parse_args()
    found = read(given.results, given.scheduler, given.pattern)
    if given.moves:
        if given.scheduler != "easy":
            arguments.error("--moves applies only to runs under easy")
        add_moves(found, given.moves)
    print_tables(found)


def print_tables(found: Found) -> None:
    """Prints the tables, the table of steps first."""
    names = {place: [place[0], f"`{place[1]}`"] for place in found}
    head = ["log", "machine"]
    steps = [names[place] + waterfall(found, *place) for place in found if place[1].startswith("mesh:")]
    table(head + WATERFALL, 2, steps)
    words = [f"`{one}`" for one in FREEDOMS]
    alone = [
        names[place] + [waiting(shares.get(0.0, {}).get(one)) for one in FREEDOMS]
        for place, shares in found.items()
    ]
    table(head + words, 2, alone)
    every = [
        (names[place] + [f"{share:g}"], shares[share])
        for place, shares in found.items()
        for share in sorted(shares)
    ]
    columns = [*FIXED, "pays"]
    messages = [name + [turnaround(freedoms.get(one)) for one in columns] for name, freedoms in every]
    table(head + ["f"] + [f"`{one}`" for one in columns], 3, messages)
    pairs = [("connected", "any-box"), ("connected", "turned"), ("any", "connected"), ("mbs", "turned")]
    evens = [
        names[place] + [break_even(shares, one, other) for one, other in pairs]
        for place, shares in found.items()
    ]
    table(head + [f"`{one}` over `{other}`" for one, other in pairs], 2, evens)
    compared = ["waiting to `mbs`", "service to `box`", "turnaround to the best fixed"]
    table(head + ["f", *compared], 3, [name + choice(freedoms) for name, freedoms in every])


if __name__ == "__main__":
    main()
