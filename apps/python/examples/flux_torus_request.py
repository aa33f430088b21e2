"""What jobs ask a torus for under Flux: jobspecs, and boxes for numbers of nodes.

Part of `flux_torus_pool`, beside which it must lie on PYTHONPATH.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from pavior import Box

Node = tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """What a job asks for."""

    least: int
    """Nodes."""
    most: int | None
    """Nodes; None for as many as there are."""
    shape: tuple[int, ...] | None
    cores: int
    """Cores that each node must have."""
    gpus: int
    duration: float
    """Seconds; 0 for no limit."""
    constraint: Mapping[str, Any] | None
    jobspec: Mapping[str, Any]


class Counts:
    """What the resources of a jobspec add up to: least and most of nodes and slots."""

    def __init__(self) -> None:
        self.nodes: tuple[int, int | None] | None = None
        self.slots: tuple[int, int | None] | None = None
        self.cores: int | None = None
        self.gpus = 0

    def walk(self, resources: Iterable[Mapping[str, Any]], factor: int) -> None:
        for vertex in resources:
            least, most = count(vertex.get("count", 1))
            within = factor
            match vertex.get("type"):
                case "node":
                    self.nodes = (least * factor, None if most is None else most * factor)
                    within = 1
                case "slot":
                    self.slots = (least * factor, None if most is None else most * factor)
                    within = 1
                case "core":
                    self.cores = least * factor
                case "gpu":
                    self.gpus = least * factor
                case _:
                    within = least * factor
            self.walk(vertex.get("with", []), within)


def count(given: object) -> tuple[int, int | None]:
    """Least and most of a count: a number, `{"min": 2, "max": 4}`, "2-4" or "2+"."""
    least: int
    most: int | None
    match given:
        case bool():
            raise ValueError(f"{given!r} is no count")
        case int():
            least, most = given, given
        case {"min": int() as least, "max": int() as most, **rest} if not rest:
            pass
        case {"min": int() as least, **rest} if not rest:
            most = None
        case str() if given.strip("[]").endswith("+"):
            least, most = int(given.strip("[]")[:-1]), None
        case str():
            first, _, last = given.strip("[]").partition("-")
            least, most = int(first), int(last or first)
        case _:
            raise ValueError(f"{given!r} is no count, nor a range without steps")
    if least < 1 or (most is not None and most < least):
        raise ValueError(f"{given!r} is no range from 1 up")
    return least, most


def numbered(number: int, sides: tuple[int, ...]) -> Node:
    """The node of a number, x fastest."""
    node = []
    for side in sides:
        node.append(number % side)
        number //= side
    return tuple(node)


def nodes_of(box: Box, sides: tuple[int, ...]) -> Iterator[Node]:
    """The nodes of a box, x fastest, round the rings."""
    offsets = product(*(range(side) for side in reversed(box.sides)))
    for offset in offsets:
        yield tuple(
            (base + step) % side
            for base, step, side in zip(box.base, reversed(offset), sides, strict=True)
        )


def shapes_of(nodes: int, sides: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The boxes of the least volume that holds so many nodes, the most compact one first.

    Sides are given to the axes in descending order; a strategy that turns tries the other orders.
    """
    axes = sorted(range(len(sides)), key=lambda axis: -sides[axis])
    most = [sides[axis] for axis in axes] + [1] * (3 - len(sides))
    found = []
    for c in range(1, most[2] + 1):
        for b in range(c, most[1] + 1):
            a = max(b, -(-nodes // (b * c)))
            if a <= most[0]:
                found.append((a * b * c, a * b + b * c + a * c, (a, b, c)))
    least = min((volume for volume, _, _ in found), default=0)
    shapes = []
    for volume, _, descending in sorted(found):
        if volume == least:
            shape = [1] * len(sides)
            for axis, side in zip(axes, descending, strict=False):
                shape[axis] = side
            shapes.append(tuple(shape))
    return shapes
