"""Tests Python strategies on machines and against the oracle."""

import copy
from collections.abc import Sequence

import numpy as np
import pytest

import pavior
from own import Fails
from pavior import Box, Free, Machine, Strategy, judge


class FirstFit(Strategy):
    name = "my-first-fit"
    claim = "first"
    chosen = 0
    """The index of the base to use among the free ones."""

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        if shape is None:
            return None
        bases = np.argwhere(free.bases(shape))
        return Box(tuple(int(at) for at in bases[self.chosen][::-1]), shape) if len(bases) else None


class LastFit(FirstFit):
    name = "my-last-fit"
    claim = "complete"
    chosen = -1


def test_a_python_first_fit_is_first_fit_in_every_state() -> None:
    judgement = judge(FirstFit, "mesh:3x3", how="every")
    assert judgement and judgement.answers == 512 * 9 and judgement.counterexample is None
    assert judge(LastFit, "mesh:3x3")
    assert judge(FirstFit, "torus:4x4x2", how="random")
    assert judge(FirstFit, "mesh:5x4", how="history")
    assert judge("tbl", "mesh:3x3").answers == 512 * 9


class ClaimsFirst(LastFit):
    name = "not-first"
    claim = "first"


class Misses(FirstFit):
    """Refuses boxes wider than two."""

    name = "misses"
    claim = "complete"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        return None if shape is not None and shape[0] > 2 else super().find(free, shape, nodes)


class GrantsBusy(FirstFit):
    name = "grants-busy"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        return Box((0,) * len(free.shape), shape) if shape else None


@pytest.mark.parametrize("mutant", [ClaimsFirst, Misses, GrantsBusy])
def test_mutants_are_refused_with_a_drawn_state(mutant: type[Strategy]) -> None:
    judgement = judge(mutant, "mesh:3x3")
    assert not judgement and judgement.counterexample is not None
    assert "\n" in judgement.counterexample
    drawn = judgement._repr_html_()
    assert "<svg" in drawn and "</svg>" in drawn and "is wrong on mesh:3x3" in drawn
    # The question that was answered wrongly can be repeated.
    assert judgement.asked is not None
    free, shape, nodes = judgement.asked
    answer = mutant("mesh:3x3", 1).find(free, shape, nodes)
    assert isinstance(answer, Box | None)
    assert ("it refuses" in judgement.counterexample) == (answer is None)


def test_judgements_are_told_in_words_and_drawn() -> None:
    judgement = judge(Misses, "mesh:3x3")
    assert repr(judgement) == (
        "<Judgement: failed. On mesh:3x3, misses claims to refuse a request only if no base is "
        "free; 6 correct answers, then a wrong one.>\n"
        "misses is wrong on mesh:3x3. Asked for 3x1, it refuses; it claims to refuse a "
        "request only if no base is free, but 3x1 at 0,0 is free.\n\n"
        "  2 | . . .\n  1 | . . .\n  0 | + + +\n      0 1 2\n\n  . free   + expected"
    )
    assert judgement.answers == 6 and judgement.asked is not None
    assert repr(judgement.asked[0]) == "<Free: 9 of 9 nodes of mesh:3x3>\n...\n...\n..."
    passed = judge(FirstFit, "mesh:2x2")
    assert repr(passed) == (
        "<Judgement: passed. On mesh:2x2, my-first-fit claims to grant the first free base in scan "
        "order; all 64 answers are correct.>"
    )
    assert passed.asked is None and "<svg" not in passed._repr_html_()
    assert judge(Misses, (2, 2)) and judge("TFF", [2, 3])


class OffTheMachine(FirstFit):
    name = "off-the-machine"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        return Box((60_000,) * len(free.shape), (60_000,) * len(free.shape))


class Turned(FirstFit):
    """Turns a shape although turning is not allowed."""

    name = "turned"
    claim = "partial"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        return super().find(free, shape[::-1] if shape else None, nodes)


class Scattered(FirstFit):
    """Grants any free nodes, one by one."""

    name = "scattered"
    contiguous = False
    claim = "count"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> list[Box] | None:
        found = np.argwhere(free.occupancy())[:nodes]
        ones = (1,) * len(free.shape)
        boxes = [Box(tuple(int(at) for at in node[::-1]), ones) for node in found]
        return boxes if len(boxes) == nodes else None


def test_what_each_attribute_allows() -> None:
    outside = judge(OffTheMachine, "torus:3x2x2")
    assert "is not on the machine" in str(outside.counterexample)
    assert "<svg" in outside._repr_html_()
    refused = judge(Turned, "mesh:3x3")
    assert "it may grant only 1x2 at 0,0, at any base" in str(refused.counterexample)
    allowed = type("Allowed", (Turned,), {"name": "turns-it", "turns": True})
    assert judge(allowed, "mesh:3x3")
    assert judge(Scattered, "mesh:3x3") and judge(Scattered, "torus:3x2x2")
    greedy = type("Greedy", (Scattered,), {"name": "greedy", "find": lambda self, free, shape, nodes: None})
    assert "enough nodes are free" in str(judge(greedy, "mesh:3x3").counterexample)
    with pytest.raises(ValueError, match="contiguous"):
        judge(type("Both", (FirstFit,), {"name": "both", "claim": "count"}))
    for how, machine in [("random", "mesh:5x4"), ("history", "torus:4x4")]:
        told = judge(Turned, machine, how=how)  # type: ignore[arg-type]
        assert not told and told.answers >= 0 and "turned is wrong on" in str(told.counterexample)


def test_what_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="history"):
        judge(FirstFit, "mesh:4x4")
    with pytest.raises(ValueError, match="mesh:2x2x2"):
        judge("2db", "mesh:2x2x2")
    with pytest.raises(TypeError, match="subclass of Strategy"):
        judge(FirstFit("mesh:3x3", 1))  # type: ignore[arg-type]
    with pytest.raises(pavior.BadName, match="did you mean `tff`"):
        judge("tfff")
    with pytest.raises(ValueError, match="'every', 'random' or 'history'"):
        judge(FirstFit, how="all")  # type: ignore[arg-type]
    with pytest.raises(pavior.Broken, match="not 7"):
        judge(type("Seven", (FirstFit,), {"name": "seven", "find": lambda *_: 7}))


def test_a_machine_takes_a_class() -> None:
    machine = Machine("mesh:4x4", FirstFit)
    assert machine.allocate((2, 2)).boxes == (Box((0, 0), (2, 2)),)
    assert machine.allocate((2, 2)).boxes == (Box((2, 0), (2, 2)),)
    assert machine.try_allocate((2, 3)) == "no-free-submesh"
    twin = machine.fork()
    twin.release(0)
    assert twin.free == 12 and machine.free == 8


def test_busy_nodes_are_not_granted() -> None:
    machine = Machine("mesh:4x4", GrantsBusy)
    machine.allocate((2, 2))
    with pytest.raises(pavior.Broken, match="cannot be granted"):
        machine.allocate((2, 2))
    assert machine.free == 12 and len(machine.jobs) == 1


class Reenters(FirstFit):
    name = "reenters"
    used: list[Machine] = []

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        if self.used:
            self.used[0].release(0)
        return super().find(free, shape, nodes)


def test_what_a_strategy_raises_reaches_the_caller() -> None:
    machine = Machine("mesh:4x4", Fails)
    with pytest.raises(ZeroDivisionError, match="of its own"):
        machine.explain((1, 1))
    with pytest.raises(ZeroDivisionError, match="of its own"):
        machine.allocate((1, 1))
    assert machine.free == 16
    with pytest.raises(ZeroDivisionError):
        judge(Fails)
    machine = Machine("mesh:4x4", Reenters)
    Reenters.used.append(machine)
    with pytest.raises(pavior.Broken, match="cannot use the machine"):
        machine.allocate((1, 1))
    Reenters.used.clear()


class Remembers(FirstFit):
    """Stores the held boxes, to check that the strategy is notified of all changes."""

    name = "remembers"

    def __init__(self, machine: str, seed: int) -> None:
        super().__init__(machine, seed)
        self.held: list[Box] = []

    def granted(self, boxes: Sequence[Box]) -> None:
        self.held.extend(boxes)

    def released(self, boxes: Sequence[Box]) -> None:
        for box in boxes:
            self.held.remove(box)

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        busy = sum(box.nodes() for box in self.held)
        assert busy + free.count == np.prod(free.shape)
        assert free.wraps == (False,) * len(free.shape)
        return super().find(free, shape, nodes)


def test_a_strategy_is_told_of_every_change() -> None:
    machine = Machine("mesh:4x4", Remembers)
    first = machine.allocate((2, 2))
    machine.allocate_at([Box((0, 3), (4, 1))])
    machine.fail((3, 2))
    fork = machine.fork()
    fork.release(first.job)
    fork.allocate((1, 1))
    first.release()
    machine.repair((3, 2))
    machine.allocate((4, 3))
    assert machine.free == 0


class FailsOnGrant(FirstFit):
    name = "fails-on-grant"
    released_boxes = 0

    def granted(self, boxes: Sequence[Box]) -> None:
        raise ZeroDivisionError("of its own")

    def released(self, boxes: Sequence[Box]) -> None:
        FailsOnGrant.released_boxes += len(boxes)


def test_a_failed_strategy_is_not_called_again() -> None:
    machine = Machine("mesh:4x4", FailsOnGrant)
    with pytest.raises(ZeroDivisionError):
        machine.allocate((2, 2))
    assert machine.free == 16 and FailsOnGrant.released_boxes == 0


def test_progress_ends_with_the_number_of_answers() -> None:
    for strategy in ("ff", FirstFit):
        told: list[pavior.Progress] = []
        judgement = judge(strategy, progress=told.append)
        assert told[-1].done == told[-1].planned == judgement.answers == 512 * 9


def test_classes_are_checked() -> None:
    class BadName(FirstFit):
        name = "Bad Name"

    class BadClaim(FirstFit):
        name = "bad-claim"
        claim = "best"  # type: ignore[assignment]

    for wrong in (BadName, BadClaim):
        with pytest.raises(ValueError):
            Machine("mesh:2x2", wrong)
    with pytest.raises(ValueError, match="at most 12"):
        judge(FirstFit, "mesh:4x4")
    assert copy.copy(FirstFit).name == "my-first-fit"
