"""The torus pool, as Flux's schedulers in Python call it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from flux.idset import IDset
from flux.resource.ResourcePoolImplementation import (
    InfeasibleRequest,
    InsufficientResources,
    ResourcePoolImplementation,
)

from flux_torus_pool import Request, TorusPool, pool_class


def resources(
    ranks: str, torus: dict[str, Any] | None, cores: str = "0-3", gpu: str = "", **more: Any
) -> dict[str, Any]:
    """An R; the second half of a machine may have GPUs."""
    entries = [{"rank": ranks, "children": {"core": cores}}]
    if gpu:
        entries.append({"rank": gpu, "children": {"core": cores, "gpu": "0-1"}})
    R: dict[str, Any] = {"version": 1, "execution": {"R_lite": entries, **more}}
    if torus is not None:
        R["scheduling"] = {"writer": "flux_torus_pool:TorusPool", "torus": torus}
    return R


def jobspec(
    nodes: Any = None, slots: Any = 1, cores: int = 1, gpus: int = 0, **system: Any
) -> dict[str, Any]:
    within: list[dict[str, Any]] = [{"type": "core", "count": cores}]
    if gpus:
        within.append({"type": "gpu", "count": gpus})
    slot = {"type": "slot", "count": slots, "label": "task", "with": within}
    top = slot if nodes is None else {"type": "node", "count": nodes, "with": [slot]}
    system.setdefault("duration", 60.0)
    return {"version": 1, "resources": [top], "attributes": {"system": system}}


TORUS = {"machine": "torus:4x4x4", "strategy": "tff"}


def pool(**more: Any) -> TorusPool:
    """A pool as a scheduler makes it: all ranks begin down."""
    made = TorusPool(resources("0-63", TORUS, **more))
    made.mark_down("all")
    made.mark_up("0-63")
    return made


def asked(pool: TorusPool, *args: Any, **more: Any) -> Request:
    return pool.parse_resource_request(jobspec(*args, **more))


def ranks(rset: Any) -> set[int]:
    return set(rset.ranks())


def node(rank: int) -> tuple[int, int, int]:
    return (rank % 4, rank // 4 % 4, rank // 16)


def is_box(of: set[int], shape: tuple[int, ...]) -> bool:
    """Whether ranks are a box of these sides on torus:4x4x4, in some order of the axes."""
    sides = []
    for axis in range(3):
        taken = sorted({node(rank)[axis] for rank in of})
        gaps = [at for at in taken if (at + 1) % 4 not in taken]
        if len(taken) < 4 and len(gaps) != 1:
            return False
        sides.append(len(taken))
    return sorted(sides) == sorted(shape) and len(of) == sides[0] * sides[1] * sides[2]


def test_it_is_what_a_scheduler_takes() -> None:
    assert issubclass(pool_class, ResourcePoolImplementation)
    made = pool()
    # No method of the interface is missing, and the scheduler finds the implementation.
    assert made.impl is made and made.version == 1 and made.dumps()
    assert made.nnodes() == 64 and made.count("core") == 256
    assert ranks(made.to_set()) == set(range(64)) and not ranks(made.copy_allocated())
    made.expiration = 5.0
    assert made.expiration == 5.0


def test_a_job_gets_a_box() -> None:
    made = pool()
    granted = made.alloc(1, asked(made, 8, torus={"shape": [2, 2, 2]}))
    assert is_box(ranks(granted), (2, 2, 2)) and ranks(made.copy_allocated()) == ranks(granted)
    flat = made.alloc(2, asked(made, 16, torus={"shape": [4, 4, 1]}))
    assert is_box(ranks(flat), (4, 4, 1)) and not ranks(flat) & ranks(granted)
    # A number of nodes becomes the most compact box that is free.
    assert is_box(ranks(made.alloc(3, asked(made, 4))), (2, 2, 1))
    written = granted.to_dict()["scheduling"]
    assert written["writer"] == "flux_torus_pool:TorusPool"
    assert len(written["torus"]["nodes"]) == 8 and written["torus"]["machine"] == "torus:4x4x4"
    made.free(1)
    assert ranks(made.copy_allocated()) & ranks(granted) == set()
    made.free(1)
    with pytest.raises(ValueError):
        made.alloc(2, asked(made, 1))


def test_requests() -> None:
    made = pool()
    for spec, least, most, cores in [
        (jobspec(2, 2, 2), 2, 2, 4),
        (jobspec({"min": 2, "max": 6}), 2, 6, 1),
        (jobspec("2+"), 2, None, 1),
        (jobspec("[3-5]"), 3, 5, 1),
        (jobspec(None, 6, 2), 3, 3, 4),
        (jobspec(None, {"min": 3}, 1), 1, None, 4),
    ]:
        request = made.parse_resource_request(spec)
        assert (request.least, request.most, request.cores) == (least, most, cores), spec
        assert request.duration == 60.0 and request.jobspec is spec
    within_rack = {"type": "rack", "count": 2, "with": jobspec(3)["resources"]}
    assert made.parse_resource_request({"resources": [within_rack]}).least == 6
    for wrong in [
        {},
        {"resources": []},
        {"resources": [{"type": "node", "count": 1}]},
        jobspec(0),
        jobspec("2-8:2:*"),
        jobspec({"min": 2, "max": 8, "operator": "*", "operand": 2}),
        jobspec(None, 1, 5),
        jobspec(1, torus={"shape": [2, 2]}),
        jobspec(1, torus={"shape": [0, 1, 1]}),
        jobspec(1, torus={"shape": [1, 1, 1.5]}),
        jobspec(1, torus={"shape": [1, 1, 10**12]}),
        jobspec(1, torus={"shape": 4}),
        jobspec(1, torus="2x2x2"),
        jobspec(1, constraints={"nonsense": []}),
        jobspec(9, torus={"shape": [2, 2, 2]}),
    ]:
        with pytest.raises((ValueError, KeyError)):
            made.parse_resource_request(wrong)


def test_not_now_and_never() -> None:
    made = pool()
    made.alloc(1, asked(made, 48, torus={"shape": [4, 4, 3]}))
    later = asked(made, 32, torus={"shape": [4, 4, 2]})
    made.check_feasibility(later)
    generation = made.generation
    with pytest.raises(InsufficientResources, match="too-few-free-nodes"):
        made.alloc(2, later)
    assert made.generation == generation and len(made.job_end_times()) == 1
    for never in [
        asked(made, 5, torus={"shape": [5, 1, 1]}),
        asked(made, 65),
        asked(made, 10**12),
        asked(made, 1, torus={"shape": [65535, 65535, 65535]}),
        asked(made, 1, 1, 5),
        asked(made, 1, 1, 1, 1),
        asked(made, 1, constraints={"properties": ["gold"]}),
    ]:
        for ask in (made.check_feasibility, lambda request: made.alloc(3, request)):
            with pytest.raises(InfeasibleRequest):
                ask(never)
    # As many as there are, between least and most.
    assert made.alloc(4, asked(made, {"min": 2, "max": 40})).nnodes() == 16


def test_up_and_down() -> None:
    made = TorusPool(resources("0-63", TORUS))
    made.mark_down("all")
    with pytest.raises(InsufficientResources):
        made.alloc(1, asked(made, 1))
    made.check_feasibility(asked(made, 64))
    made.mark_up("0-15")
    granted = made.alloc(1, asked(made, 16))
    assert ranks(granted) == set(range(16))
    made.mark_down("3")
    assert ranks(made.copy_down()) == {3} | set(range(16, 64))
    made.mark_up("16-31")
    # The job keeps a node that went down, which is not granted again before it is up.
    made.free(1, granted, True)
    with pytest.raises(InsufficientResources):
        made.alloc(2, asked(made, 32, torus={"shape": [4, 4, 2]}))
    made.mark_up("3,99")
    made.alloc(2, asked(made, 32, torus={"shape": [4, 4, 2]}))


def test_ranks_are_given_back_one_by_one() -> None:
    made = pool()
    granted = made.alloc(1, asked(made, 5))
    assert granted.nnodes() == 5
    # The box has six nodes: the sixth stays idle.
    made.mark_down("63")
    with pytest.raises(InsufficientResources):
        made.alloc(2, asked(made, 58))
    first, *others = sorted(ranks(granted))
    part = granted.copy_ranks(str(first))
    made.mark_down(str(others[0]))
    made.free(1, part)
    assert ranks(made.copy_allocated()) == set(others)
    with pytest.raises(ValueError, match="does not hold"):
        made.free(1, part)
    with pytest.raises(ValueError, match="still holds"):
        made.free(1, granted.copy_ranks(str(others[1])), final=True)
    made.mark_up("0-63")
    made.free(1, granted.copy_ranks(",".join(map(str, others))), final=True)
    assert not made.job_end_times()
    assert made.alloc(3, asked(made, 64)).nnodes() == 64


def test_a_scheduler_that_starts_again_takes_running_jobs_over() -> None:
    old = pool()
    jobs = {job: old.alloc(job, asked(old, count)) for job, count in enumerate([5, 8, 12, 3])}
    part = old.copy_allocated().copy_ranks(str(min(ranks(jobs[1]))))
    old.free(1, part)
    new = pool()
    new.mark_down(str(min(ranks(jobs[0]))))
    for job, granted in jobs.items():
        R = TorusPool(granted.to_dict())
        if job == 1:
            R.remove_ranks(part.ranks())
        new.register_alloc(job, R)
    assert ranks(new.copy_allocated()) == ranks(old.copy_allocated())
    new.mark_up("0-63")
    # What is idle in the box of five is known, too.
    assert new._machine.free == old._machine.free
    for job in jobs:
        new.free(job)
    assert new.alloc(9, asked(new, 64)).nnodes() == 64
    strange = TorusPool(resources("0-63", TORUS))
    strange.remove_ranks("0")
    with pytest.raises(ValueError, match="not in the pool"):
        strange.register_alloc(1, TorusPool(jobs[0].to_dict()))


def test_copies_are_apart() -> None:
    made = pool()
    granted = made.alloc(1, asked(made, 32))
    twin = made.copy()
    assert twin.generation == made.generation and twin.job_end_times() == made.job_end_times()
    twin.free(1)
    assert ranks(twin.alloc(2, asked(twin, 64))) == set(range(64))
    assert ranks(made.copy_allocated()) == ranks(granted)
    generation = made.generation
    made.update_expiration(1, 7.0)
    made.update_expiration(5, 7.0)
    assert made.job_end_times() == [(1, 7.0)] and made.generation == generation + 1


def test_an_instance_in_a_job_sees_its_own_part() -> None:
    outer = pool()
    outer.alloc(1, asked(outer, 16, torus={"shape": [4, 4, 1]}))
    granted = outer.alloc(2, asked(outer, 12, torus={"shape": [2, 2, 3]}))
    R = granted.to_dict()
    # Flux counts the ranks of the instance from 0; the key `scheduling` it leaves as it is.
    R["execution"]["R_lite"] = [{"rank": "0-11", "children": {"core": "0-3"}}]
    inner = TorusPool(R)
    own = sorted(ranks(granted))
    box = inner.alloc(1, asked(inner, 8, torus={"shape": [2, 2, 2]}))
    assert is_box({own[rank] for rank in ranks(box)}, (2, 2, 2))
    with pytest.raises(InsufficientResources):
        inner.alloc(2, asked(inner, 8, torus={"shape": [2, 2, 2]}))
    with pytest.raises(InfeasibleRequest):
        inner.check_feasibility(asked(inner, 4, torus={"shape": [4, 1, 1]}))


def test_only_nodes_that_suit_a_job() -> None:
    made = TorusPool(
        resources("0-31", TORUS, gpu="32-63", properties={"gold": "0-7", "odd": "16-47"})
    )
    assert ranks(made.alloc(1, asked(made, 8, constraints={"properties": ["gold"]}))) == set(range(8))
    with pytest.raises(InsufficientResources):
        made.alloc(2, asked(made, 1, constraints={"properties": ["gold"]}))
    assert min(ranks(made.alloc(3, asked(made, 4, 1, 1, 2)))) >= 32
    both = asked(made, 4, 1, 1, 1, constraints={"properties": ["odd"]})
    assert ranks(made.alloc(4, both)) <= set(range(32, 48))
    assert asked(made, None, 4, 1, 1).least == 2


def test_strategies_that_take_numbers_of_nodes() -> None:
    made = TorusPool(resources("0-63", None), machine="torus:4x4x4", strategy="gabl")
    assert made.alloc(1, asked(made, 13)).nnodes() == 13
    assert made.alloc(2, asked(made, 51)).nnodes() == 51


def test_what_is_no_torus() -> None:
    for R, reason in [
        (resources("0-63", None), "needs R.scheduling"),
        (resources("0-64", TORUS), "no node for rank 64"),
        (resources("0-1", TORUS | {"nodes": [[0, 0, 0]]}), "1 nodes of the torus for 2 ranks"),
        (resources("0-1", TORUS | {"nodes": [[0, 0, 0]] * 2}), "two ranks"),
        (resources("0", TORUS | {"machine": "torus:0"}), "not a side"),
    ]:
        with pytest.raises(ValueError, match=reason):
            TorusPool(R)


@pytest.mark.parametrize("seed", range(3))
def test_random_histories_against_sets_of_ranks(seed: int) -> None:
    draw, made = random.Random(seed), pool()
    held: dict[int, set[int]] = {}
    down: set[int] = set()
    for job in range(150):
        generation = made.generation
        shape = tuple(draw.randint(1, 4) for _ in range(3))
        volume = shape[0] * shape[1] * shape[2]
        try:
            granted = ranks(made.alloc(job, asked(made, volume, torus={"shape": list(shape)})))
        except InsufficientResources:
            assert made.generation == generation
        else:
            assert is_box(granted, shape) and made.generation > generation
            assert not granted & down and not any(granted & other for other in held.values())
            held[job] = granted
        while held and draw.random() < 0.5:
            gone = draw.choice(sorted(held))
            of = sorted(held[gone])
            part = set(draw.sample(of, draw.randint(1, len(of))))
            made.free(gone, made.to_set().copy_ranks(",".join(map(str, part))), part == held[gone])
            held[gone] -= part
            if not held[gone]:
                del held[gone]
        if draw.random() < 0.2:
            turned = draw.randrange(64)
            (made.mark_up if turned in down else made.mark_down)(str(turned))
            down ^= {turned}
        assert ranks(made.copy_allocated()) == set().union(*held.values())
        assert ranks(made.copy_down()) == down
        assert {job for job, _ in made.job_end_times()} == set(held)


def test_ids_are_written_as_flux_writes_them() -> None:
    assert str(IDset("3,0-1,2")) == "0-3" and set(IDset("[1,5-6]")) == {1, 5, 6}
