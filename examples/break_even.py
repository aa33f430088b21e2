#!/usr/bin/env python3
"""What each freedom of shape gives back on each log, what messages cost it, and the share of communication at
which one freedom stops being better than another.

    examples/break_even.py reproduction-contiguity/results.csv [SCHEDULER]

Reads the results of `pavior reproduce contiguity`, and prints three tables in Markdown. Needs Python 3 alone.
"""

import csv
import sys

FREEDOMS = ["box", "turned", "any-box", "connected", "any", "mbs"]
CHOICE = "easy:tear=pays"


def read(path: str, scheduler: str) -> dict[tuple[str, str], dict[float, dict[str, dict[str, float]]]]:
    """Means in hours by log and machine, share of communication, freedom and metric."""
    found: dict[tuple[str, str], dict[float, dict[str, dict[str, float]]]] = {}
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            chosen = row["scheduler"] == CHOICE
            if not row["mean"] or not (chosen or row["scheduler"] == scheduler):
                continue
            log = row["trace"].removesuffix(".swf.gz").rsplit("-", 2)[0]
            by_share = found.setdefault((log, row["machine"]), {})
            by_freedom = by_share.setdefault(float(row["communication"]), {})
            metrics = by_freedom.setdefault("pays" if chosen else row["freedom"] or row["strategy"], {})
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
    columns = [*FREEDOMS, "pays"]
    print("| log | machine | f |", " | ".join(f"`{one}`" for one in columns), "|")
    print("|---|---|---:|" + "---:|" * len(columns))
    for (log, machine), shares in found.items():
        for share in sorted(shares):
            cells = [f"{shares[share][one]['turnaround']:.3g}" for one in columns]
            print(f"| {log} | `{machine}` | {share:g} |", " | ".join(cells), "|")
    print()
    pairs = [("connected", "any-box"), ("connected", "turned"), ("any", "connected"), ("mbs", "turned")]
    print("| log | machine |", " | ".join(f"`{one}` over `{other}`" for one, other in pairs), "|")
    print("|---|---|" + "---:|" * len(pairs))
    for (log, machine), shares in found.items():
        cells = [break_even(shares, one, other) for one, other in pairs]
        print(f"| {log} | `{machine}` |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
