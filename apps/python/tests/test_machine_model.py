"""Tests First Fit on live meshes and tori against an array-based model, driven by hypothesis."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pavior import Box, Machine

Point = tuple[int, ...]

MACHINES = {
    "mesh:7": ((7,), (False,)),
    "mesh:5x4": ((5, 4), (False, False)),
    "torus:5x4": ((5, 4), (True, True)),
    "grid:4x5w": ((4, 5), (False, True)),
    "mesh:5x4x3": ((5, 4, 3), (False, False, False)),
    "torus:4x3x3": ((4, 3, 3), (True, True, True)),
}
"""The sides, and True for each axis that wraps, x first."""


class Model:
    """The job that holds each node, and the failed nodes: arrays `[z, y, x]`."""

    def __init__(self, sides: Point, wraps: tuple[bool, ...]) -> None:
        self.sides, self.wraps = sides, wraps
        self.holder = np.full(sides[::-1], -1)
        self.broken = np.zeros(sides[::-1], dtype=bool)

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        return (self.holder == -1) & ~self.broken

    def place(self, base: Point, shape: Point) -> tuple[npt.NDArray[np.intp], ...]:
        """Returns the nodes of a box, as an index."""
        return np.ix_(
            *(
                (start + np.arange(length)) % side
                for start, length, side in reversed(list(zip(base, shape, self.sides, strict=True)))
            )
        )

    def bases(self, shape: Point) -> list[Point]:
        """Returns the bases at which the box is free, x fastest. On an axis that the box fills, or that does not
        wrap, it has no other bases."""
        if any(length > side for length, side in zip(shape, self.sides, strict=True)):
            return []
        starts = [
            range(side if wraps and length < side else side - length + 1)
            for length, side, wraps in zip(shape, self.sides, self.wraps, strict=True)
        ]
        every = (point[::-1] for point in itertools.product(*reversed(starts)))
        free = self.free
        return [base for base in every if free[self.place(base, shape)].all()]


class AgainstArrays(RuleBasedStateMachine):
    """Applies the same changes to the machine and the model."""

    @initialize(name=st.sampled_from(sorted(MACHINES)))
    def begin(self, name: str) -> None:
        self.machine = Machine(name, "ff")
        self.model = Model(*MACHINES[name])
        self.jobs: list[int] = []
        self.changes = 0

    def shape(self, data: st.DataObject) -> Point:
        sides = [st.integers(1, side + 1) for side in self.model.sides]
        return data.draw(st.tuples(*sides), label="shape")

    def node(self, data: st.DataObject) -> Point:
        return data.draw(st.tuples(*(st.integers(0, side - 1) for side in self.model.sides)))

    def holds(self, job: int, base: Point, shape: Point) -> None:
        self.model.holder[self.model.place(base, shape)] = job
        self.jobs.append(job)
        self.changes += 1

    @rule(data=st.data())
    def allocate(self, data: st.DataObject) -> None:
        shape = self.shape(data)
        bases = self.model.bases(shape)
        probed = self.machine.probe(shape)
        answer = self.machine.try_allocate(shape)
        if bases:
            assert not isinstance(answer, str) and isinstance(answer.job, int)
            assert answer.boxes == probed == (Box(bases[0], shape),)
            assert answer.nodes == math.prod(shape)
            self.holds(answer.job, bases[0], shape)
            assert (answer.mask() == (self.model.holder == answer.job)).all()
            return
        assert answer == probed and isinstance(answer, str)
        sides = self.model.sides
        # A shape that fits the empty machine when turned is not larger than the machine.
        pairs = zip(sorted(shape), sorted(sides), strict=True)
        larger = any(length > side for length, side in pairs)
        assert (answer == "larger-than-machine") == larger
        if all(length <= side for length, side in zip(shape, sides, strict=True)):
            few = self.model.free.sum() < math.prod(shape)
            assert answer == ("too-few-free-nodes" if few else "no-free-submesh")

    @rule(data=st.data())
    def allocate_at(self, data: st.DataObject) -> None:
        shape, base = self.shape(data), self.node(data)
        within = all(
            length <= side and (wraps or start + length <= side)
            for start, length, side, wraps in zip(
                base, shape, self.model.sides, self.model.wraps, strict=True
            )
        )
        if within and self.model.free[self.model.place(base, shape)].all():
            held = self.machine.allocate_at([Box(base, shape)])
            assert isinstance(held.job, int)
            self.holds(held.job, base, shape)
        else:
            with pytest.raises(ValueError):
                self.machine.allocate_at([Box(base, shape)])

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(self.jobs))
        self.machine.release(job)
        self.jobs.remove(job)
        self.model.holder[self.model.holder == job] = -1
        self.changes += 1
        with pytest.raises(KeyError):
            self.machine.release(job)

    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        node = self.node(data)
        holder = int(self.model.holder[node[::-1]])
        assert self.machine.fail(node) == (None if holder == -1 else holder)
        self.model.broken[node[::-1]] = True

    @rule(data=st.data())
    def repair(self, data: st.DataObject) -> None:
        node = self.node(data)
        self.machine.repair(node)
        self.model.broken[node[::-1]] = False

    @rule()
    def what_if(self) -> None:
        """Checks that copies are equal and independent."""
        for twin in (self.machine.fork(), Machine.from_json(self.machine.to_json())):
            assert (twin.holders() == self.machine.holders()).all()
            for job in self.jobs:
                twin.release(job)
            assert twin.free == (~self.model.broken).sum() and twin.busy == 0

    @rule()
    def largest(self) -> None:
        largest = self.machine.largest_free
        volume = math.prod(largest)
        if volume:
            assert self.model.bases(largest)
        every = itertools.product(*(range(1, side + 1) for side in self.model.sides))
        assert not any(math.prod(shape) > volume and self.model.bases(shape) for shape in every)

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "machine"):
            return
        model, machine = self.model, self.machine
        assert (machine.occupancy() == model.free).all()
        assert machine.free == model.free.sum()
        assert machine.busy == (model.holder != -1).sum()
        assert machine.failed == (model.broken & (model.holder == -1)).sum()
        assert list(machine.jobs) == self.jobs
        place = {job: index for index, job in enumerate(self.jobs)}
        holders: Any = np.vectorize(lambda job: place.get(job, -1), otypes=[int])(model.holder)
        holders[model.broken & (model.holder == -1)] = -2
        assert (machine.holders() == holders).all()
        assert machine.generation >= self.changes


TestAgainstArrays = AgainstArrays.TestCase
TestAgainstArrays.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
