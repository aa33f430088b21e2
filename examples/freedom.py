#!/usr/bin/env python3
"""Measures what each freedom of placement costs on job logs, and what is gained by choosing it job by job.

    examples/freedom.py FOLDER [--logs KTH,SDSC-SP2] [--kinds mesh,torus] [--shares 0.1,0.2,0.4] [--first 3000]
                        [--pattern near-neighbour] [--pavior pavior] > freedom.csv
    examples/freedom.py FOLDER --migration 0,1,10,60 [...] > migration.csv
    examples/freedom.py --tables freedom.csv
    examples/freedom.py --moves migration.csv

The first form runs the logs in the directory (named as in the Parallel Workloads Archive) with backfilling: by counting
nodes (`mbs`), with each of the five levels of freedom for all jobs (`tff`), and with `easy-freedom`, which chooses the
level for each job. A share of each run time is communication. The second form compares the fixed levels, without
messages, with rotated boxes where running jobs move at a cost in seconds per node. Both write a line for each run, and
the other forms print tables of these lines (the table of moves is in results/moves-on-logs.md). Exits with status 2 if
there is nothing to run or no data for a table. Requires Python 3.11 and the `pavior` binary.
"""

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

from scripts import Row, end_with_reader, number, rows, run, unreadable

# The start of each log's name, the sides of its machine, and the number of job lines to read.
Log = tuple[str, str, list[str]]
# Each choice's name, strategy, scheduler, and freedom for all jobs.
Choice = tuple[str, str, str, str | None]


LOGS: list[Log] = [
    ("SDSC-Par-1996-3.1-cln", "16x22", ["--filter", "partition=2"]),
    ("NASA-iPSC-1993-3.1-cln", "16x8", []),
    ("LANL-CM5-1994-4.1-cln", "32x32", []),
    ("KTH-SP2-1996-2.1-cln", "10x10", []),
    ("SDSC-SP2-1998-4.2-cln", "16x8", []),
    ("SDSC-BLUE-2000-4.2-cln", "32x36", []),
    ("SDSC-DS-2004-2.1-cln", "32x52", []),
    ("HPC2N-2002-2.2-cln", "16x15", []),
    ("LLNL-Atlas-2006-2.1-cln", "96x96", []),
    ("CEA-Curie-2011-2.1-cln", "48x48x41", []),
    ("lublin_256", "16x16", []),
]
# The metrics to compare.
CHOICES: list[Choice] = [
    ("count", "mbs", "easy", None),
    ("box", "tff", "easy", "box"),
    ("turned", "tff", "easy", "turned"),
    ("any-box", "tff", "easy", "any-box"),
    ("connected", "tff", "easy", "connected"),
    ("any", "tff", "easy", "any"),
    ("pays", "tff", "easy-freedom", None),
]
METRICS = ["waiting", "service", "turnaround"]
MOVES = ["moves", "nodes_moved", "migration_time"]
FIELDS = ["log", "machine", "first", "share", "choice", *METRICS, *MOVES, "seconds"]


def logs_of(names: str | None) -> list[Log]:
    """Returns the logs whose names begin with one of the given names, or all logs if none are given."""
    wanted = names.split(",") if names else [""]
    for one in wanted:
        if not any(log.startswith(one) for log, _, _ in LOGS):
            unreadable(f"no log's name begins with {one}; they are {', '.join(log for log, _, _ in LOGS)}")
    return [log for log in LOGS if log[0].startswith(tuple(wanted))]


def measure(arguments: argparse.Namespace, log: Log, kind: str, share: str, choice: Choice) -> dict[str, Any]:
    """Runs a simulation and returns its row."""
    trace, sides, more = log
    name, strategy, scheduler, freedom = choice
    metrics = METRICS + (MOVES if name.startswith("moves") else [])
    machine = f"{kind}:{sides}"
    command = [arguments.pavior, "simulate", "--trace", f"{arguments.folder}/{trace}.swf.gz", "--machine", machine]
    command += ["--strategy", strategy, "--scheduler", scheduler, "--metrics", ",".join(metrics), *more]
    if share != "none":
        command += ["--communication", share, "--pattern", arguments.pattern, "--ranks", "pattern"]
    if name.startswith("moves"):
        command += ["--migration", name.split(" ")[1]]
    command += ["--no-timing", "--format", "json", "--threads", "1"]
    if freedom:
        command += ["--freedom", freedom]
    if arguments.first:
        command += ["--first", arguments.first]
    begin = time.monotonic()
    found = json.loads(run(command))["results"][0]["metrics"]
    row = {"log": trace, "machine": machine, "first": arguments.first or "all", "share": share, "choice": name}
    row.update({metric: found[metric]["mean"] for metric in metrics})
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def run_all(arguments: argparse.Namespace) -> None:
    """Makes all runs and writes a line after each."""
    logs = logs_of(arguments.logs)
    known = [choice[0] for choice in CHOICES]
    chosen = arguments.choices.split(",") if arguments.choices else known
    if unknown := [name for name in chosen if name not in known]:
        unreadable(f"no choice {', '.join(unknown)}; they are {', '.join(known)}")
    out = csv.DictWriter(sys.stdout, FIELDS)
    out.writeheader()
    for log in logs:
        for kind in arguments.kinds.split(","):
            if arguments.migration:
                prices = arguments.migration.split(",")
                moving: list[Choice] = [(f"moves {price}", "tff", "easy", "turned") for price in prices]
                for choice in [*CHOICES[:-1], *moving]:
                    out.writerow(measure(arguments, log, kind, "none", choice))
                    sys.stdout.flush()
                continue
            if "count" in chosen:
                out.writerow(measure(arguments, log, kind, "0", CHOICES[0]))
            for share in arguments.shares.split(","):
                for choice in CHOICES:
                    if choice[0] in chosen:
                        out.writerow(measure(arguments, log, kind, share, choice))
                        sys.stdout.flush()


def tables(path: Path) -> None:
    """Prints the table for a file of rows, one line per log, machine and share."""
    cases: dict[tuple[str, str, str, str], dict[str, dict[str, float]]] = {}
    for row in rows(path, ["log", "machine", "first", "share", "choice", *METRICS]):
        case = (row["log"].rsplit("-", 2)[0], row["first"], row["machine"], row["share"])
        cases.setdefault(case, {})[row["choice"]] = {metric: number(row[metric]) for metric in METRICS}
    fixed = [choice[0] for choice in CHOICES if choice[0] not in ("count", "pays")]
    if not any(found.keys() >= {"count", *fixed, "pays"} for found in cases.values()):
        unreadable(f"{path}: no log and share with all of count, {', '.join(fixed)}, pays")
    print("| log | lines | machine | f | `mbs` f=0 | `mbs` | " + " | ".join(f"`{name}`" for name in fixed), end="")
    print(" | `pays` | to `mbs` | service to `box` | turnaround to the best fixed |")
    print("|---|---|---|---|" + "---:|" * (len(fixed) + 6))
    for (log, first, machine, share), found in cases.items():
        if any(name not in found for name in ["count", *fixed, "pays"]):
            continue
        alone = cases.get((log, first, machine, "0"), {}).get("count", {}).get("waiting")
        every = [alone] + [found[name]["waiting"] for name in ["count", *fixed, "pays"]]
        waits = " | ".join("" if wait is None else f"{wait / 3600:.3g}" for wait in every)
        pays = found["pays"]
        best = min(["count", *fixed], key=lambda name: found[name]["turnaround"])
        ratio = pays["waiting"] / max(found["count"]["waiting"], 1e-9)
        serves = pays["service"] / found["box"]["service"]
        total = pays["turnaround"] / found[best]["turnaround"]
        compared = f"{ratio:.2f} | {serves:.3f} | {total:.3f} (`{best}`)"
        print(f"| {log} | {first} | `{machine}` | {share} | {waits} | {compared} |")


def moves(path: Path) -> None:
    """Prints the table for a file of rows with migration, one line per log and machine."""
    cases: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows(path, ["log", "machine", "first", "choice", "waiting", *MOVES]):
        cases.setdefault((row["log"].rsplit("-", 2)[0], row["first"], row["machine"]), {})[row["choice"]] = row
    names = list(dict.fromkeys(name for found in cases.values() for name in found))
    prices = [name for name in names if name.startswith("moves ")]
    if not prices:
        unreadable(f"{path}: no moves")
    if not any(found.keys() >= set(names) for found in cases.values()):
        unreadable(f"{path}: no log with all of {', '.join(names)}")
    heads = [f"`{name}`" if name not in prices else f"{name.split(' ')[1]} s" for name in names]
    print("| log | lines | machine | " + " | ".join(heads) + " | moves | nodes a move | paid |")
    print("|---|---|---|" + "---:|" * (len(names) + 3))
    for (log, first, machine), found in cases.items():
        if any(name not in found for name in names):
            continue
        waits = " | ".join(f"{number(found[name]['waiting']) / 3600:.3g}" for name in names)
        moved, nodes, paid = ([number(found[name][metric]) for name in prices] for metric in MOVES)
        counts = [" / ".join(f"{one:.0f}" for one in moved)]
        counts.append(" / ".join(f"{many / max(1, one):.1f}" for many, one in zip(nodes, moved, strict=True)))
        counts.append(" / ".join(f"{time / 3600:.3g}" for time in paid))
        print(f"| {log} | {first} | `{machine}` | {waits} | " + " | ".join(counts) + " |")


def main() -> None:
    """Runs the logs, or prints a table from earlier runs."""
    end_with_reader()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--logs")
    parser.add_argument("--kinds", default="mesh")
    parser.add_argument("--shares", default="0.1,0.2,0.4")
    parser.add_argument("--choices")
    parser.add_argument("--first")
    parser.add_argument("--pattern", default="near-neighbour")
    parser.add_argument("--pavior", default="pavior")
    parser.add_argument("--migration")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--moves", type=Path)
    arguments = parser.parse_args()
    if arguments.tables:
        tables(arguments.tables)
    elif arguments.moves:
        moves(arguments.moves)
    elif arguments.folder:
        run_all(arguments)
    else:
        parser.error("give the folder of the logs, --tables or --moves")


if __name__ == "__main__":
    main()
