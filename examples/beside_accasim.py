#!/usr/bin/env python3
"""Compares the start times and CPU time of AccaSim and Pavior on one log.

    python3.9 -m venv acc && acc/bin/pip install accasim==1.1.3      # requires Python before 3.10
    examples/beside_accasim.py LOG.swf NODES acc/bin/python > rows.csv

Both only count nodes (a node is one core in AccaSim, and Pavior uses `naive`) under FCFS and EASY. Each row gives a
program, a policy, the number of jobs, the CPU time in seconds (the best of three runs), the mean wait in seconds, and the
number of jobs that start in a different second in the other program. Requires Python 3.11 and `pavior` on the path.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from scripts import end_with_reader, unreadable

ACCASIM = """
import json, sys
from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut
from accasim.base.simulator_class import Simulator
log, system, out, policy = sys.argv[1:]
rule = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[policy]
Simulator(log, system, rule(FirstFit()), RESULTS_FOLDER_PATH=out, statistics_output=False, show_statistics=False,
          LOG_LEVEL="ERROR").start_simulation()
"""
"""A script for the Python in which AccaSim is installed."""
ROUNDS = 3
SCHEDULERS = {"fcfs": "fcfs", "easy": "easy:count"}
"""AccaSim's policies and the corresponding names in Pavior."""

Starts = dict[str, int]


def seconds(command: list[str]) -> float:
    """Returns the minimum CPU time of a command over several rounds."""
    spent = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            unreadable(f"{command[0]}: {error}")
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip().splitlines() or [f"status {error.returncode}"])[-1]
            unreadable(f"{command[0]}: {last}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(spent)


def accasim(python: str, log: Path, nodes: int, policy: str, folder: Path) -> tuple[float, Starts]:
    """Runs AccaSim. Returns its CPU time and each job's start time."""
    system = folder / "system.json"
    groups = {"groups": {"node": {"core": 1}}, "resources": {"node": nodes}}
    system.write_text(json.dumps(groups | {"equivalence": {"processor": {"core": 1}}, "start_time": 0}))
    spent = seconds([python, "-c", ACCASIM, str(log), str(system), str(folder), policy])
    lines = (folder / f"sched-{log.name}").read_text().splitlines()
    rows = [line.split(";") for line in lines]
    # ID;USER;QUEUED__NODES__START;END;...: the nodes take up many cells.
    starts = {row[0]: next(cell for cell in row if "__" in cell and cell != row[2]).split("__")[-1] for row in rows}
    utc = timezone.utc
    return spent, {job: int(datetime.fromisoformat(at).replace(tzinfo=utc).timestamp()) for job, at in starts.items()}


def pavior(log: Path, nodes: int, policy: str, folder: Path) -> tuple[float, Starts]:
    """Runs Pavior on the same jobs."""
    out = folder / "placed.swf"
    command = ["pavior", "simulate", "--trace", str(log), "--machine", f"mesh:{nodes}", "--strategy", "naive"]
    spent = seconds([*command, "--scheduler", SCHEDULERS[policy], "--swf", str(out), "--threads", "1"])
    rows = [line.split() for line in out.read_text().splitlines() if not line.startswith(";")]
    return spent, {row[0]: int(float(row[1])) + int(float(row[2])) for row in rows}


def main() -> None:
    end_with_reader()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, help="an SWF log")
    parser.add_argument("nodes", type=int, help="the machine's number of nodes")
    parser.add_argument("python", help="a Python in which AccaSim is installed")
    arguments = parser.parse_args()
    log, nodes, python = arguments.log.resolve(), arguments.nodes, arguments.python
    try:
        lines = [line.split() for line in log.read_text().splitlines() if line and not line.startswith(";")]
    except (OSError, UnicodeDecodeError) as error:
        unreadable(f"{arguments.log}: {error}")
    submits = {line[0]: int(line[1]) for line in lines}
    rows = csv.writer(sys.stdout)
    rows.writerow(["log", "nodes", "policy", "program", "jobs", "seconds", "jobs_per_second", "mean_wait", "other_start"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for policy in SCHEDULERS:
            runs = {
                "accasim": accasim(python, log, nodes, policy, folder),
                "pavior": pavior(log, nodes, policy, folder),
            }
            starts, others = (runs[program][1] for program in runs)
            differing = sum(starts.get(job) != others.get(job) for job in starts | others)
            for program, (spent, own) in runs.items():
                each = round(len(own) / spent)
                wait = round(sum(at - submits[job] for job, at in own.items()) / len(own), 1)
                rows.writerow([log.name, nodes, policy, program, len(own), round(spent, 3), each, wait, differing])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
