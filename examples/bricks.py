#!/usr/bin/env python3
"""Tests whether counting bricks proves longer busy times than counting nodes when jobs get boxes.

    pavior yardstick --logs LOGS --strategy tff --out yardstick
    examples/bricks.py yardstick

A brick is a box with fixed sides. A box of a x b nodes can be cut into floor(a/k) floor(b/l) bricks of k x l nodes. On
each axis that does not wrap around, there is room for at most floor(n/k) bricks. If axes wrap around, the limit is
computed axis by axis as floor(n c/k), where c is the limit for the previous axes. (A line along an axis meets at most
floor(n/k) bricks. A plane consists of n such lines, and each brick is on k of them.) With each job in the orientation
that contains the fewest bricks, all jobs therefore take at least the sum of run time times bricks, divided by that
limit. With one-node bricks, this is the bound from counting nodes. Tries every brick. Prints a CSV line for each
scenario: the hours by nodes, the maximum hours by bricks, and the brick that gives them. Requires only Python 3.11.
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
    """A machine with three axes. Axes that it lacks have one node."""

    sides: Sides
    wraps: tuple[bool, ...]

    def room(self, brick: Sides) -> int:
        """Returns the maximum number of bricks that fit side by side."""
        axes = list(zip(self.sides, self.wraps, brick, strict=True))
        room = 1
        for side, wraps, k in axes:
            if wraps:
                room = side * room // k
        return room * math.prod(side // k for side, wraps, k in axes if not wraps)


def machine_of(name: str) -> Machine:
    """Parses a machine name, such as mesh:16x16 or grid:8wx8x4."""
    kind, _, text = name.partition(":")
    axes = text.split("x")
    sides = [int(axis.rstrip("w")) for axis in axes] + [1] * (3 - len(axes))
    wraps = [kind == "torus" or axis.endswith("w") for axis in axes] + [False] * (3 - len(axes))
    return Machine(tuple(sides), tuple(wraps))


def fewest(shape: Sides, machine: Machine, brick: Sides) -> int:
    """Returns the minimum number of bricks in a box, over all orientations in which it fits."""
    turned = [way for way in itertools.permutations(shape) if all(map(int.__le__, way, machine.sides))]
    return min((math.prod(map(int.__floordiv__, way, brick)) for way in turned), default=0)


def hours(work: dict[Sides, int], machine: Machine, brick: Sides) -> float:
    """Returns a lower bound on the busy time in hours, given the total run time of each shape in seconds."""
    bricks = sum(seconds * fewest(shape, machine, brick) for shape, seconds in work.items())
    return bricks / machine.room(brick) / 3600


def work_of(workload: Any) -> dict[Sides, int]:
    """Returns each shape's total run time, in seconds."""
    work: dict[Sides, int] = {}
    for job in workload["jobs"]:
        shape = tuple(int(side) for side in job["extra_data"]["shape"])
        shape += (1,) * (3 - len(shape))
        work[shape] = work.get(shape, 0) + int(workload["profiles"][job["profile"]]["delay"])
    return work


def main() -> None:
    """Writes the table for a directory."""
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
            # Ties go to the smallest brick.
            most, brick = max((hours(work, machine, brick), [-k for k in brick]) for brick in bricks)
            sides = "x".join(str(-k) for k in brick)
            out.writerow([name, grid, f"{nodes:.2f}", f"{most:.2f}", sides, f"{most / nodes:.4f}"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        unreadable(f"{sys.argv[1]}: {error!r}")


if __name__ == "__main__":
    main()
