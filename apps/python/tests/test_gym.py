"""Tests `pavior.gym` environments with Gymnasium's checks and agents that decide like schedulers."""

from __future__ import annotations

import gc
import threading
import warnings
from typing import Any

import gymnasium
import numpy as np
import polars as pl
import pytest
from gymnasium.utils.env_checker import check_env

import pavior
import pavior.gym
from own import CornerFirst, Fails
from pavior import Trace, simulate

IDS = ["pavior/Scheduling-v0", "pavior/Allocation-v0"]


def first(mask: Any) -> int:
    return int(np.argmax(mask))


def episode(env: Any, agent: Any, **reset: Any) -> tuple[float, list[dict[str, Any]]]:
    """Returns the sum of the rewards and the info of each step."""
    _, info = env.reset(**reset)
    told, total, over = [info], 0.0, False
    while not over:
        observation, reward, over, _, info = env.step(agent(info["action_mask"]))
        assert reward <= 0 and info["time"] >= told[-1]["time"]
        told.append(info)
        total += float(reward)
    return total, told


def waited(result: pavior.Result) -> float:
    jobs = pl.DataFrame(result.jobs).filter(pl.col("start").is_not_null())
    return float((jobs["start"] - jobs["submit"]).sum())


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"machine": "mesh:5x4", "load": 2.0, "jobs": 30},
        {"machine": "torus:4", "jobs": 5},
        {"machine": "mesh:8x8", "mttf": 100.0, "mttr": 5.0, "jobs": 50},
    ],
)
def test_gymnasium_finds_nothing_wrong(name: str, arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, **arguments).unwrapped)


def test_an_agent_that_takes_the_oldest_job_is_fcfs() -> None:
    env = gymnasium.make(IDS[0], machine="mesh:8x8", strategy="ff", load=1.5, jobs=300, window=1)
    total, told = episode(env, first, options={"replication": 0})
    assert told[-1]["completed"] == 300 and told[-1]["waiting"] == 0
    assert all(info["valid"] for info in told)
    # Runs the same jobs in Rust, until the last departure.
    trace = simulate("mesh:8x8", "ff", "fcfs", load=1.5, jobs=300, timing=False)
    frame = pl.DataFrame(trace.jobs)[:300]
    assert pytest.approx(waited(scheduled(frame, "fcfs"))) == -total
    # With a longer window, the first job that fits starts, as in scan-all.
    env = gymnasium.make(IDS[0], machine="mesh:8x8", strategy="ff", load=1.5, jobs=300, window=300)
    total, _ = episode(env, first, options={"replication": 0})
    assert pytest.approx(waited(scheduled(frame, "scan-all"))) == -total


def scheduled(jobs: pl.DataFrame, scheduler: str) -> pavior.Result:
    """Simulates the given jobs as a log; all of them depart."""
    boxes = jobs["boxes"].list.first()
    departed = jobs.select(
        "submit", (pl.col("end") - pl.col("start")).alias("run"), "nodes", pl.col("job")
    ).with_columns(x=boxes.arr.get(3), y=boxes.arr.get(4))
    assert departed.null_count().sum_horizontal().sum() == 0, "all have run"
    return simulate("mesh:8x8", "ff", scheduler, trace=Trace(departed))


def test_an_agent_that_takes_the_first_base_is_first_fit() -> None:
    log = {"submit": [0.0] * 40, "run": [1.0 + i % 7 for i in range(40)], "nodes": [4] * 40}
    trace = Trace(pl.DataFrame(log | {"x": [2] * 40, "y": [2] * 40}))
    for scheduler in ("fcfs", "ssd", "easy"):
        env = gymnasium.make(IDS[1], machine="mesh:6x6", trace=trace, scheduler=scheduler)
        total, told = episode(env, first)
        assert told[-1]["completed"] == 40 and told[-1]["time"] > 0
        theirs = simulate("mesh:6x6", "ff", scheduler, trace=trace)
        assert pytest.approx(waited(theirs)) == -total


def test_any_agent_comes_to_the_end() -> None:
    for name in IDS:
        env = gymnasium.make(name, machine="torus:4x4", strategy="ff", load=3.0, jobs=60)
        draw = np.random.default_rng(1)
        number = env.action_space.n  # type: ignore[attr-defined]
        for agent in (
            lambda mask: int(draw.choice(np.flatnonzero(mask))),
            lambda mask: int(draw.integers(number)),
            lambda mask: int(np.argmin(mask)),
            lambda mask: number - 1,
        ):
            _, told = episode(env, agent, seed=2)
            assert told[-1]["completed"] == 60
        assert not told[-1]["action_mask"][:-1].any()


def test_observations_are_what_they_say() -> None:
    env = gymnasium.make(IDS[0], machine="mesh:4x2", strategy="ff", load=4.0, jobs=50, window=4)
    observation, info = env.reset(seed=3)
    assert observation["free"].shape == (2, 4) and observation["free"].all()
    assert observation["jobs"].shape == (4, 6) and observation["waiting"][0] == np.float32(0.2)
    nodes, x, y, z, estimate, wait = observation["jobs"][0]
    assert (z, wait) == (1.0, 0.0) and nodes == pytest.approx(x * y) and 0 < estimate < 1
    observation, _, _, _, info = env.step(0)
    busy = observation["free"] == 0
    assert busy.sum() == round(nodes * 8) and (observation["remaining"][busy] > 0).all()
    assert info["running"] == 1


def test_episodes_differ_by_seed_alone() -> None:
    env = gymnasium.make(IDS[0], machine="mesh:8x8", load=2.0, jobs=100)
    one, two, other = (episode(env, first, seed=seed)[0] for seed in (1, 1, 2))
    assert one == two != other
    following = episode(env, first)[0]
    assert following != other
    sum_of_jobs = gymnasium.make(
        IDS[0], machine="mesh:8x8", load=2.0, jobs=100, reward=lambda info: -info["waiting"]
    )
    assert episode(sum_of_jobs, first, seed=1)[0] != one


def test_wrong_arguments() -> None:
    for arguments in (
        {"window": 0},
        {"jobs": 0},
        {"reward": "speed"},
        {"machine": "mesh:0"},
        {"laod": 2},
        {"strategy": ["ff", "tff"]},
    ):
        with pytest.raises((ValueError, TypeError)):
            pavior.gym.SchedulingEnv(**arguments)  # type: ignore[arg-type]
    with pytest.raises(gymnasium.error.ResetNeeded):
        pavior.gym.AllocationEnv().step(0)


def test_own_strategies_in_environments() -> None:
    env = pavior.gym.SchedulingEnv("mesh:6x6", strategy=CornerFirst, load=2.0, jobs=40)
    rust = pavior.gym.SchedulingEnv("mesh:6x6", strategy="ff", load=2.0, jobs=40)
    assert episode(env, first, seed=1)[0] == episode(rust, first, seed=1)[0]
    with pytest.raises(ZeroDivisionError):
        pavior.gym.SchedulingEnv("mesh:6x6", strategy=Fails).reset()


def system_threads() -> int:
    """Returns the number of threads of this process, according to the operating system."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads"))


def test_environments_leave_nothing_behind() -> None:
    before = threading.active_count(), system_threads()
    for name in IDS:
        for _ in range(20):
            env = gymnasium.make(name, jobs=50)
            _, info = env.reset()
            env.step(first(info["action_mask"]))
            env.close()
            del env
    gc.collect()
    assert threading.active_count() == before[0]
    # Library threads from earlier tests may have ended, and another may have started.
    assert system_threads() <= before[1] + 1


def test_drawings() -> None:
    rows = {"submit": [0.0, 0.0], "run": [5, 5], "nodes": [2, 6], "x": [2, 3], "y": [1, 2]}
    trace = Trace(pl.DataFrame(rows))
    env = gymnasium.make(IDS[1], machine="mesh:4x2", trace=trace, render_mode="ansi")
    _, info = env.reset()
    assert env.render() == "....\n....\n" and list(info["action_mask"]) == [1, 1, 1, 0] * 2
    _, _, _, _, info = env.step(5)
    # The second job fits once the first has ended.
    assert info["time"] == 5.0 and list(info["action_mask"]) == [1, 1, 0, 0] + [0] * 4
    env.step(0)
    assert env.render() == "....\n....\n"
    fits = gymnasium.make(IDS[1], machine="mesh:5x2", trace=trace, render_mode="ansi")
    fits.reset()
    fits.step(0)
    assert fits.render() == ".....\n##...\n"
