"""Tests a live machine: names, errors, copies, threads."""

import copy
import json
import pickle
import threading
import typing
from pathlib import Path

import numpy as np
import pytest

import pavior
from own import CornerFirst
from pavior import Box, Machine, Refused, _native, _types

ROOT = Path(__file__).parents[3]


def test_the_first_example_of_the_tbl_paper() -> None:
    machine = Machine("mesh:3x3x2", strategy="tbl")
    machine.allocate((2, 3, 2))
    turned = machine.allocate((3, 2, 1))
    assert turned.boxes[0].sides == (1, 3, 2)


def test_a_with_block_releases() -> None:
    machine = Machine("torus:4x4")
    with machine.allocate((4, 4), job="all") as held:
        assert held.nodes == 16 and machine.free == 0
        with pytest.raises(Refused) as refused:
            machine.allocate((1, 1))
        assert refused.value.reason == "too-few-free-nodes" and not refused.value.permanent
        assert machine.try_allocate((5, 1)) == "larger-than-machine"
    assert machine.free == 16 and not machine.jobs
    with machine.allocate((2, 2)) as held:
        held.release()


def test_a_request_says_how_free_it_is() -> None:
    machine = Machine("mesh:3x2", "ff")
    machine.allocate_at([Box((1, 0), (1, 1))])
    assert machine.probe((2, 2), freedom="box") == "no-free-submesh"
    assert machine.explain((2, 2)).answers == {"ff": "no-free-submesh"}
    for freed in (machine.explain((2, 2), freedom="connected"), machine.explain(nodes=4, freedom="any")):
        assert sum(box.nodes() for box in freed.answers["ff"]) == 4 and "<svg" in freed._repr_svg_()
    placed = machine.allocate((2, 2), freedom="connected")
    assert placed.nodes == 4
    with pytest.raises(ValueError, match="not a valid freedom"):
        machine.probe((1, 1), freedom="free")  # type: ignore[arg-type]


def test_a_number_of_nodes_becomes_a_box_by_the_shape_rule() -> None:
    for rule, sides in [("compact", (4, 3)), ("pow2", (4, 4)), ("exact", (4, 3))]:
        machine = Machine("mesh:8x8", "ff", shape_rule=rule)
        assert machine.shape_rule == rule
        for twin in (machine, machine.fork(), pickle.loads(pickle.dumps(machine))):
            assert twin.allocate(nodes=12).boxes == (Box((0, 0), sides),)
    assert machine.try_allocate(nodes=65) == machine.try_allocate(nodes=2**40) == "larger-than-machine"
    with pytest.raises(pavior.BadName, match="did you mean"):
        Machine("mesh:8x8", shape_rule="compct")


def test_stubs_know_the_words_of_the_engine() -> None:
    def words(alias: object) -> tuple[str, ...]:
        return tuple(word for one in typing.get_args(alias) for word in typing.get_args(one))

    assert words(_types.Reason) == _native.REASONS
    assert words(_types.Freedom) == _native.FREEDOMS


def test_names_of_jobs() -> None:
    machine = Machine("mesh:4x4")
    machine.allocate((1, 1), job=7)
    machine.allocate((1, 1), job="7")
    machine.allocate((1, 1), job=-7)
    with pytest.raises(ValueError, match="already holds nodes"):
        machine.allocate((1, 1), job=7)
    assert machine.allocate((1, 1)).job == 0
    assert list(machine.jobs) == [7, "7", -7, 0]
    machine.allocate((1, 1), job=1)
    machine.allocate((1, 1), job=2)
    assert machine.allocate((1, 1)).job == 3
    machine.allocate((1, 1), job=4)
    machine.allocate_at([Box((3, 3), (1, 1))])
    assert list(machine.jobs) == [7, "7", -7, 0, 1, 2, 3, 4, 5]
    machine.release("7")
    with pytest.raises(KeyError):
        machine.release("7")
    with pytest.raises(TypeError):
        machine.allocate((1, 1), job=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda machine: machine.allocate((0, 1)),
        lambda machine: machine.allocate((1, 1, 1)),
        lambda machine: machine.allocate((70_000, 1)),
        lambda machine: machine.allocate((-1, 1)),
        lambda machine: machine.allocate(()),
        lambda machine: machine.allocate(),
        lambda machine: machine.allocate((1, 1), nodes=1),
        lambda machine: machine.allocate(nodes=0),
        lambda machine: machine.fail((4, 0)),
        lambda machine: machine.fail((0, 0, 0)),
        lambda machine: machine.allocate_at([Box((3, 3), (2, 2))]),
        lambda machine: machine.allocate_at([Box((0, 0), (2, 2)), Box((1, 1), (2, 2))]),
        lambda machine: machine.allocate_at([Box((0, 0, 0), (1, 1, 1))]),
        lambda machine: machine.allocate_at([]),
    ],
)
def test_bad_values_change_nothing(call) -> None:  # type: ignore[no-untyped-def]
    machine = Machine("mesh:4x4")
    with pytest.raises(ValueError):
        call(machine)
    assert machine.free == 16 and machine.generation == 0 and not machine.jobs


def test_requests_as_people_type_them() -> None:
    for shape in [(2, 3), [2, 3], "2x3", "2, 3", np.array([2, 3]), (np.int32(2), np.uint8(3))]:
        assert Machine((4, 4)).allocate(shape).boxes == (Box((0, 0), (2, 3)),), shape
    for count in (6, np.int64(6)):
        assert Machine("MESH:4X4").allocate(count).nodes == 6
    assert Machine(8).name == "mesh:8" and Machine([2, 3, 4]).name == "mesh:2x3x4"
    assert Machine("mesh:4x4", "FF").strategy == "ff"
    line = Machine("mesh:4")
    assert line.fail(3) is None and line.failed == 1 and Box(0, 2) == Box((0,), (2,))
    machine = Machine("mesh:4x4")
    assert machine.allocate((1, 1), job=np.int64(7)).job == 7
    machine.release(np.int64(7))  # type: ignore[arg-type]
    assert machine.allocate_at(Box((1, 1), (2, 2))).nodes == 4
    assert set(machine.explain((4, 4), "gabl").answers) == {"gabl"}
    assert machine.probe((1, 1), freedom="ANY_BOX") == (Box((0, 0), (1, 1)),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda machine: machine.allocate((1.5, 2)),
        lambda machine: machine.allocate({1, 2}),
        lambda machine: machine.allocate({1: 2}),
        lambda machine: machine.allocate("large"),
        lambda machine: machine.allocate(2.5),
        lambda machine: machine.allocate(nodes="4"),
        lambda machine: machine.allocate((1, 1), job=(1, 2)),
        lambda machine: machine.allocate_at((1, 1)),
        lambda machine: machine.release(1.5),
        lambda machine: Machine(None),
        lambda machine: Machine("mesh:4x4", 3),
        lambda machine: Box("a", "b"),
    ],
)
def test_bad_types_are_told_in_a_sentence(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError) as raised:
        call(Machine("mesh:4x4"))
    assert "such as" in str(raised.value) or "not " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_numbers_out_of_range_are_values() -> None:
    machine = Machine("mesh:4x4")
    for call in (
        lambda: machine.allocate(-1),
        lambda: machine.allocate(nodes=-1),
        lambda: machine.allocate(nodes=2.5),
        lambda: machine.allocate((10**30, 1)),
        lambda: machine.allocate((1, 1), job=10**30),
        lambda: Machine("mesh:4x4", seed=-1),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    assert machine.free == 16


def test_bad_names_say_where() -> None:
    with pytest.raises(pavior.BadName) as bad:
        Machine("torus:8xé8")
    assert bad.value.span[0] >= 6
    with pytest.raises(pavior.BadName, match="did you mean"):
        Machine("mesh:4x4", "tfff")
    with pytest.raises(pavior.BadName):
        Machine("mesh:4x4x4", "2db")


def test_a_machine_draws_itself() -> None:
    machine = Machine("torus:8x8", "tff")
    machine.allocate((5, 3), job="a")
    machine.fail((7, 7))
    svg = machine._repr_svg_()
    assert "torus:8x8" in svg and "48 of 64 nodes free" in svg
    assert svg.count('class="job"') == svg.count('class="failed"') == 1 and ">a</text>" in svg


def test_hostile_names_are_escaped() -> None:
    hostile = '<script>alert("1")</script>\x1b[31m'
    machine = Machine("mesh:4x4")
    held = machine.allocate((2, 2), job=hostile)
    for drawn in (machine._repr_svg_(), held._repr_html_(), machine.explain((4, 4))._repr_svg_()):
        assert "<script>" not in drawn and "\x1b" not in drawn and "<svg" in drawn
    assert "\x1b" not in repr(held)
    experiment = pavior.Experiment(title="<b>&\x1b", machine="mesh:4x4", jobs=5, replications=1)
    assert "<b>&" not in experiment._repr_html_() and "&lt;b&gt;" in experiment._repr_html_()


def test_failed_nodes() -> None:
    machine = Machine("mesh:4x1")
    held = machine.allocate((2, 1), job="a")
    assert machine.fail((0, 0)) == "a" and machine.fail((3, 0)) is None
    assert (machine.free, machine.busy, machine.failed) == (1, 2, 1)
    held.release()
    assert (machine.free, machine.busy, machine.failed) == (2, 0, 2)
    assert list(machine.holders().ravel()) == [-2, -1, -1, -2]
    machine.repair((0, 0))
    assert list(machine.occupancy().ravel()) == [True, True, True, False]


def test_states_survive_json_and_pickle() -> None:
    machine = Machine("torus:4x4x4", "gabl", seed=3)
    for shape in [(2, 2, 2), (3, 3, 3), (1, 4, 1)]:
        machine.allocate(shape)
    machine.fail((3, 3, 3))
    for twin in (
        Machine.from_json(machine.to_json()),
        pickle.loads(pickle.dumps(machine)),
        copy.deepcopy(machine),
        machine.fork(),
    ):
        assert (twin.holders() == machine.holders()).all()
        assert {j: a.boxes for j, a in twin.jobs.items()} == {
            j: a.boxes for j, a in machine.jobs.items()
        }
        twin.release(0)
        assert 0 in machine.jobs
    with pytest.raises(ValueError):
        Machine.from_json("{}")
    with pytest.raises(ValueError, match="the member `seed` appears twice"):
        Machine.from_json('{"seed": 1, "seed": 2}')
    box = Box((1, 2), (3, 4))
    assert pickle.loads(pickle.dumps(box)) == box and len({box, Box((1, 2), (3, 4))}) == 1


def test_a_machine_with_a_python_strategy_cannot_be_stored() -> None:
    machine = Machine("mesh:4x4", CornerFirst)
    for store in (machine.to_json, lambda: pickle.dumps(machine)):
        with pytest.raises(TypeError, match="corner-first, cannot be stored"):
            store()


@pytest.mark.parametrize("job", ["a", 7, -7])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2)])
def test_an_allocation_never_releases_a_later_job_with_its_name(
    job: int | str, shape: tuple[int, int]
) -> None:
    machine = Machine("mesh:4x4")
    with machine.allocate((2, 2), job=job) as first:
        listed = machine.jobs[job]
        first.release()
        machine.allocate(shape, job=job)
    assert machine.busy == shape[0] * shape[1]
    for release in (first.release, listed.release, lambda: machine.release(first)):
        with pytest.raises(KeyError, match="no longer holds these nodes"):
            release()
    machine.jobs[job].release()
    assert machine.free == 16


def test_arrays_are_indexed_z_y_x() -> None:
    machine = Machine("mesh:4x3x2", "ff")
    held = machine.allocate_at([Box((1, 2, 1), (2, 1, 1))])
    expected = np.zeros((2, 3, 4), dtype=bool)
    expected[1, 2, 1:3] = True
    assert (held.mask() == expected).all() and (machine.occupancy() == ~expected).all()
    out = np.zeros((2, 3, 4), dtype=bool)
    assert machine.occupancy(out) is out and (out == ~expected).all()


def test_threads_share_a_machine() -> None:
    machine = Machine("torus:16x16x16")
    failures: list[BaseException] = []

    def churn() -> None:
        try:
            for _ in range(300):
                held = machine.try_allocate((2, 3, 2))
                if not isinstance(held, str):
                    held.release()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=churn) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures and machine.free == 4096


def test_slots_side_by_side_and_after_moves() -> None:
    machine = Machine("mesh:6x2", "ff")
    machine.allocate_at(Box((2, 0), (2, 2)), job="middle")
    found = machine.slots((3, 2))
    assert (found.count, found.bound, found.proven, found.moves) == (0, 0, True, ())
    after = machine.slots((3, 2), moves=1)
    assert (after.count, after.bound, after.proven) == (1, 1, True)
    assert after.boxes == (Box((0, 0), (3, 2)),)
    assert after.moves == (("middle", (Box((2, 0), (2, 2)),), (Box((3, 0), (2, 2)),)),)
    assert repr(machine.slots((2, 1))) == "<Slots 4 of at most 4>"
    with pytest.raises(ValueError, match="expected 2 sides"):
        machine.slots((2, 1, 1))


def test_an_explanation_says_why_in_sentences() -> None:
    machine = Machine("mesh:6x2", "ff")
    machine.allocate_at(Box((2, 0), (2, 2)), job="middle")
    why = machine.explain((3, 2))
    assert why.why == (
        "It needs 6 nodes, and 8 are free, but `ff` cannot place it on them.",
        "Blocked on 3x2 at 0,0 by job middle (4 nodes).",
        "Moving job middle from 2x2 at 2,0 to 2x2 at 3,0 would free 3x2 at 0,0 sooner.",
    )
    assert why.blocked == Box((0, 0), (3, 2)) and dict(why.blocked_by) == {"middle": 4}
    assert why.nearest is not None and why.fits is None
    assert "stroke-dasharray" in why._repr_svg_()
    assert machine.explain((2, 2)).why == ("It fits now, on 2x2 at 0,0.",)


def test_an_explanation_is_that_of_the_table_that_every_interface_is_asked() -> None:
    cases = json.loads((ROOT / "xtask/trials/cases/answers.json").read_text())
    for case in cases:
        machine = Machine("mesh:4x2", "ff")
        for job in case["jobs"]:
            machine.allocate_at(Box(tuple(job["base"]), tuple(job["sides"])), job=job["job"])
        for node in case["unavailable"]:
            machine.fail(tuple(node))
        why = [line.replace("`ff`", "`S`") for line in machine.explain(tuple(case["shape"])).why]
        # A machine has no end times: the clause about time is omitted, and the named place is the one whose jobs
        # occupy the fewest nodes in total.
        first = case["why"][0].partition("; ")[0].rstrip(".")
        assert why[0].startswith(first), case["case"]
        if "cannot start" in case["why"][0] or len(case["why"]) == 1:
            assert why == case["why"], case["case"]
