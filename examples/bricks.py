#!/usr/bin/env python3
"""Whether a count of bricks proves more than a count of nodes of what jobs in boxes keep a machine busy for.

    pavior yardstick --logs LOGS --strategy tff --out yardstick
    examples/bricks.py yardstick

A brick is a box of fixed sides. A box of a x b nodes can be cut into floor(a/k) floor(b/l) bricks of k x l, and a
machine has room for so many bricks at most: floor(n/k) along each axis that does not wrap; where axes wrap, one after
the other, floor(n c/k), with c for the axes before (a line along an axis meets floor(n/k) bricks, and a plane of lines
so many for each of n lines, of which each brick is on k). So all jobs, each turned as it has fewest bricks, take at
least the sum of run time times bricks, divided by that room. With bricks of one node that is the count of nodes. Every
brick is tried. Prints a line for each scenario of the folder, as CSV: hours by nodes, the most hours by bricks, and
which brick has them. Needs Python 3.11 alone.
"""

import csv
import itertools
import json
import math
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from scripts import end_with_reader, unreadable

SCENARIOS = Path(__file__).parents[1] / "crates/studies/papers/yardstick/scenarios.toml"

Sides = tuple[int, ...]


class Machine(NamedTuple):
    """Three axes; missing ones have one node."""

    sides: Sides
    wraps: tuple[bool, ...]

    def room(self, brick: Sides) -> int:
        """How many bricks are side by side at most."""
        axes = list(zip(self.sides, self.wraps, brick, strict=True))
        room = 1
        for side, wraps, k in axes:
            if wraps:
                room = side * room // k
        return room * math.prod(side // k for side, wraps, k in axes if not wraps)


def machine_of(name: str) -> Machine:
    """A machine by its name, such as mesh:16x16 or grid:8wx8x4."""
    kind, _, text = name.partition(":")
    axes = text.split("x")
    sides = [int(axis.rstrip("w")) for axis in axes] + [1] * (3 - len(axes))
    wraps = [kind == "torus" or axis.endswith("w") for axis in axes] + [False] * (3 - len(axes))
    return Machine(tuple(sides), tuple(wraps))


def fewest(shape: Sides, machine: Machine, brick: Sides) -> int:
    """The bricks of a box, turned as it has the fewest of the ways in which it fits."""
    turned = [way for way in itertools.permutations(shape) if all(map(int.__le__, way, machine.sides))]
    return min((math.prod(map(int.__floordiv__, way, brick)) for way in turned), default=0)


def hours(work: dict[Sides, int], machine: Machine, brick: Sides) -> float:
    """How long a machine is busy at least, from the seconds for which boxes of each shape run."""
    bricks = sum(seconds * fewest(shape, machine, brick) for shape, seconds in work.items())
    return bricks / machine.room(brick) / 3600


def work_of(workload: Any) -> dict[Sides, int]:
    """For how many seconds boxes of each shape run."""
    work: dict[Sides, int] = {}
    for job in workload["jobs"]:
        shape = tuple(int(side) for side in job["extra_data"]["shape"])
        shape += (1,) * (3 - len(shape))
        work[shape] = work.get(shape, 0) + int(workload["profiles"][job["profile"]]["delay"])
    return work


def main() -> None:
    """Writes the table of a folder."""
    end_with_reader()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    out = csv.writer(sys.stdout, lineterminator="\n")
    try:
        scenarios = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))["scenario"]
        found = [one for one in scenarios if (Path(sys.argv[1]) / one["name"]).is_dir()]
        if not found:
            unreadable(f"{sys.argv[1]}: no scenario")
        out.writerow(["scenario", "machine", "nodes_h", "bricks_h", "brick", "ratio"])
        for one in found:
            name, grid = one["name"], one["settings"]["machine"]
            workload = json.loads((Path(sys.argv[1]) / name / "jobs.json").read_text(encoding="utf-8"))
            work, machine = work_of(workload), machine_of(grid)
            nodes = hours(work, machine, (1, 1, 1))
            bricks = itertools.product(*(range(1, side + 1) for side in machine.sides))
            # Of equal ones the smallest brick.
            most, brick = max((hours(work, machine, brick), [-k for k in brick]) for brick in bricks)
            sides = "x".join(str(-k) for k in brick)
            out.writerow([name, grid, f"{nodes:.2f}", f"{most:.2f}", sides, f"{most / nodes:.4f}"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        unreadable(f"{sys.argv[1]}: {error!r}")


if __name__ == "__main__":
    main()
