#!/usr/bin/env python3
"""Finds the combination of interpretations that comes closest to the numbers in the GABL paper.

    pavior experiment results/reproduction/gabl-search.toml --out search
    examples/gabl_search.py search/results.csv

The experiment runs every variant of every strategy separately. A combination consists of a sending discipline, an order
of destinations and, for each strategy, a variant with a rank mapping. Its distance is the root mean square of ln(our
ratio / the paper's ratio); for G3, which is a bound, only the excess counts. Prints Markdown tables. Requires only
Python 3.
"""

import csv
import itertools
import math
import sys
from typing import Callable, NamedTuple

Variant = tuple[str, str]
Means = dict[tuple[str, str, float, str], dict[Variant, dict[str, float]]]

# Each statement, with its pattern, load and metric, and the paper's ratio of GABL's value to each strategy's.
GOALS = [
    ("G1", "one-to-all", 0.0205, "turnaround", {"ff": 0.36, "paging": 0.64, "mbs": 0.69}),
    ("G2", "all-to-all", 0.1, "turnaround", {"ff": 0.17, "paging": 0.28, "mbs": 0.30}),
    ("G4-0.025", "all-to-all", 0.025, "blocks_per_job", {"mbs": 0.54}),
    ("G4-0.03", "all-to-all", 0.03, "blocks_per_job", {"mbs": 0.59}),
    ("G4-0.035", "all-to-all", 0.035, "blocks_per_job", {"mbs": 0.60}),
]
# The ratio of FF's utilization to each strategy's with a full queue: at most 49% to the middle of 72 to 79%.
FULL = ("G3", "all-to-all", 1.0, "utilization", {"gabl": 0.65, "paging": 0.65, "mbs": 0.65})
FF: Variant = ("ff", "coordinates")


class Reading(NamedTuple):
    """A combination: its sending discipline, a variant for each strategy, and ln(ours / the paper's) for each ratio."""

    sending: str
    destinations: str
    variants: dict[str, Variant]
    ours: dict[str, float]
    errors: dict[str, float]

    def distance(self, statement: str = "") -> float:
        """Returns the root mean square over all ratios, or over those that belong to a statement."""
        errors = [error for place, error in self.errors.items() if place.startswith(statement)]
        return math.sqrt(sum(error * error for error in errors) / len(errors))


def read(path: str) -> Means:
    """Returns the means by sending discipline, pattern, load and destinations, then by variant and metric."""
    means: Means = {}
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            pattern, _, destinations = row["pattern"].partition(":")
            place = (row["sending"], pattern, float(row["load"]), destinations)
            variant = (row["strategy"], row["ranks"])
            if row["mean"]:
                means.setdefault(place, {}).setdefault(variant, {})[row["metric"]] = float(row["mean"])
    return means


def combinations(means: Means) -> list[Reading]:
    """Returns every combination with its errors."""
    readings = []
    for sending, destinations in sorted({(place[0], place[3]) for place in means}):
        at = {goal: means[sending, pattern, load, destinations] for goal, pattern, load, _, _ in [*GOALS, FULL]}
        kinds = [[one for one in at["G1"] if one[0].split(":")[0] == kind] for kind in ("gabl", "paging", "mbs")]
        for gabl, paging, mbs in itertools.product(*kinds):
            variants = {"gabl": gabl, "paging": paging, "mbs": mbs, "ff": FF}
            ours, errors = {}, {}
            for goal, _, _, metric, others in GOALS:
                for other, stated in others.items():
                    ratio = at[goal][gabl][metric] / at[goal][variants[other]][metric]
                    ours[f"{goal}@{other}"] = ratio
                    errors[f"{goal}@{other}"] = math.log(ratio / stated)
            goal, _, _, metric, others = FULL
            for other, stated in others.items():
                ratio = at[goal][FF][metric] / at[goal][variants[other]][metric]
                ours[f"{goal}@{other}"] = ratio
                errors[f"{goal}@{other}"] = max(0.0, math.log(ratio / stated))
            readings.append(Reading(sending, destinations or "following", variants, ours, errors))
    return sorted(readings, key=Reading.distance)


SHOWN = ["G1@ff", "G1@paging", "G1@mbs", "G2@ff", "G2@paging", "G2@mbs", "G4-0.03@mbs"]


def table(title: str, readings: list[Reading]) -> None:
    """Prints a table of interpretations."""
    print(f"\n{title}\n")
    names = ["sending", "destinations", "GABL", "Paging(0)", "MBS", "distance", "G1", "G2", "G3", "G4", *SHOWN]
    print("|" + "|".join(f" {name} " for name in names) + "|")
    print("|" + "---|" * 5 + "---:|" * (len(names) - 5))
    for one in readings:
        kinds = [f"`{variant}`, {ranks}" for variant, ranks in (one.variants[k] for k in ("gabl", "paging", "mbs"))]
        distances = [f"{one.distance(goal):.2f}" for goal in ("", "G1", "G2", "G3", "G4")]
        ratios = [f"{one.ours[place]:.2f}" for place in SHOWN]
        print("|" + "|".join(f" {cell} " for cell in (one.sending, one.destinations, *kinds, *distances, *ratios)) + "|")


def best(readings: list[Reading], key: Callable[[Reading], object]) -> list[Reading]:
    """Returns the closest interpretation for each value of the key, closest first."""
    found: dict[object, Reading] = {}
    for one in readings:
        found.setdefault(key(one), one)
    return list(found.values())


def main() -> None:
    readings = combinations(read(sys.argv[1]))
    print(f"{len(readings)} combinations.")
    table("The closest of all", readings[:6])
    table("The closest of each way of sending", best(readings, lambda one: (one.sending, one.destinations)))

    def maps(one: Reading) -> set[str]:
        return {one.variants[kind][1] for kind in ("gabl", "paging", "mbs")}

    one_map = [one for one in readings if len(maps(one)) == 1]
    table("The closest with one map of ranks for all", best(one_map, lambda one: one.variants["gabl"][1]))
    plain = [one for one in readings if maps(one) <= {"coordinates", "parts"}]
    table("The closest whose ranks are row-major or part by part", plain[:6])
    table(
        "The closest of these with each list of Paging's and of MBS's",
        best(plain, lambda one: (one.variants["paging"][0], one.variants["mbs"][0])),
    )
    good = [one for one in readings if all(abs(error) <= math.log(1.15) for error in one.errors.values())]
    print(f"\nEvery ratio within 15%: {len(good)} combinations.")
    for place in readings[0].errors:
        within = sum(abs(one.errors[place]) <= math.log(1.15) for one in readings)
        print(f"- {place}: within 15% in {within}")
    for pair in (("G1", "G2"), ("G1@paging", "G2@paging"), ("G1@mbs", "G2@mbs")):
        both = sum(
            all(abs(error) <= math.log(1.15) for place, error in one.errors.items() if place.startswith(pair))
            for one in readings
        )
        print(f"- {pair[0]} and {pair[1]} together: within 15% in {both}")


if __name__ == "__main__":
    main()
