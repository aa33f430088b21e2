#!/usr/bin/env python3
"""What each freedom of shape gives back on each log, and the share of communication at which connected nodes
stop being better than boxes.

    examples/break_even.py reproduction-contiguity/results.csv [SCHEDULER]

Reads the results of `pavior reproduce contiguity`, and prints two tables in Markdown. Needs Python 3 alone.
"""

import csv
import sys

FREEDOMS = ["box", "turned", "any-box", "connected", "any", "mbs"]


def read(path: str, scheduler: str) -> dict[tuple[str, str], dict[float, dict[str, dict[str, float]]]]:
    """Means in hours by log and machine, share of communication, freedom and metric."""
    found: dict[tuple[str, str], dict[float, dict[str, dict[str, float]]]] = {}
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            if row.get("scheduler", scheduler) != scheduler or not row["mean"]:
                continue
            log = row["trace"].removesuffix(".swf.gz").split("-2.1")[0].split("-3.1")[0].split("-4.")[0]
            by_share = found.setdefault((log, row["machine"]), {})
            by_freedom = by_share.setdefault(float(row["communication"]), {})
            metrics = by_freedom.setdefault(row["freedom"] or row["strategy"], {})
            metrics[row["metric"]] = float(row["mean"]) / 3600
    return found


def break_even(shares: dict[float, dict[str, dict[str, float]]], one: str, other: str) -> str:
    """The share at which `one` stops having less turnaround than `other`, on straight lines between shares."""
    before: tuple[float, float] | None = None
    for share in sorted(shares):
        gap = shares[share][one]["turnaround"] - shares[share][other]["turnaround"]
        if gap > 0:
            if before is None:
                return "never better"
            return f"{before[0] + (share - before[0]) * before[1] / (before[1] - gap):.2f}"
        before = (share, gap)
    return f"above {max(shares):g}"


def main() -> None:
    """Prints the tables."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = read(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "easy")
    print("| log | machine |", " | ".join(f"`{one}`" for one in FREEDOMS), "|")
    print("|---|---|" + "---:|" * len(FREEDOMS))
    for (log, machine), shares in found.items():
        waits = [shares[0.0][one] for one in FREEDOMS]
        cells = [f"{one['waiting']:.3g} ± {one.get('waiting_error', 0.0):.2g}" for one in waits]
        print(f"| {log} | `{machine}` |", " | ".join(cells), "|")
    print()
    shares = sorted({share for of_log in found.values() for share in of_log if share > 0})
    heads = [f"`{one}` at f = {share:g}" for share in shares for one in FREEDOMS[1:]]
    print("| log | machine |", " | ".join(heads), "| f* of `connected` over `any-box` | over `turned` |")
    print("|---|---|" + "---:|" * (len(heads) + 2))
    for (log, machine), of_log in found.items():
        cells = [f"{of_log[share][one]['turnaround']:.3g}" for share in shares for one in FREEDOMS[1:]]
        ends = [break_even(of_log, "connected", other) for other in ("any-box", "turned")]
        print(f"| {log} | `{machine}` |", " | ".join([*cells, *ends]), "|")


if __name__ == "__main__":
    main()
