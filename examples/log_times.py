#!/usr/bin/env python3
"""Measures the CPU time and memory of every scheduler with every strategy on real logs, as a Markdown table.

    examples/log_times.py FOLDER [SCHEDULER,... [STRATEGY,...]]

FOLDER contains the logs (.swf.gz, named as in the Parallel Workloads Archive). Runs the program $PAVIOR, or `pavior`
from the search path, one run at a time on one thread. A run is stopped after 600 seconds of CPU time. Each cell gives
the seconds and the peak resident memory in MB, or `exit N` if the run fails.
"""

import os
import resource
import shutil
import sys

LOGS = [
    ("SDSC-Par-1996-3.1-cln", "16x22", ["--filter", "partition=2"]),
    ("NASA-iPSC-1993-3.1-cln", "16x8", []),
    ("LANL-CM5-1994-4.1-cln", "32x32", []),
    ("KTH-SP2-1996-2.1-cln", "10x10", []),
    ("SDSC-SP2-1998-4.2-cln", "16x8", []),
    ("lublin_256", "16x16", []),
    ("HPC2N-2002-2.2-cln", "16x15", []),
    ("SDSC-DS-2004-2.1-cln", "32x52", []),
    ("SDSC-BLUE-2000-4.2-cln", "32x36", []),
    ("LLNL-Atlas-2006-2.1-cln", "96x96", []),
    ("CEA-Curie-2011-2.1-cln", "48x48x41", []),
]
SCHEDULERS = "fcfs,ssd,sjf,scan-all,window,easy,easy:count,conservative,conservative:count"
STRATEGIES = "tff,nas,gabl,mbs"
SECONDS = 600


def run(pavior: str, arguments: list[str]) -> tuple[int, float, float]:
    """Returns the exit status, CPU time in seconds, and memory in MB of one run."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(pavior, [pavior, *arguments])
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Prints the table, one line per log and scheduler."""
    pavior = os.environ.get("PAVIOR") or shutil.which("pavior")
    if pavior is None or len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    schedulers = (sys.argv[2] if len(sys.argv) > 2 else SCHEDULERS).split(",")
    strategies = (sys.argv[3] if len(sys.argv) > 3 else STRATEGIES).split(",")
    print("| log | machine | scheduler |", *(f" `{one}`: s, MB |" for one in strategies), sep="")
    print("|---|---|---|", *("---:|" for _ in strategies), sep="", flush=True)
    for log, sides, more in LOGS:
        for scheduler in schedulers:
            print(f"| {log.removesuffix('-cln')} | {sides} | `{scheduler}` |", end="", flush=True)
            for strategy in strategies:
                arguments = ["simulate", "--trace", f"{folder}/{log}.swf.gz", "--machine", f"mesh:{sides}"]
                arguments += ["--strategy", strategy, "--scheduler", scheduler, "--no-timing"]
                code, seconds, memory = run(pavior, [*arguments, "--threads", "1", *more])
                failed = f" (exit {code})" if code else ""
                print(f" {seconds:.1f}, {memory:.0f}{failed} |", end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
