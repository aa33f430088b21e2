"""Environments for Gymnasium, in which an agent schedules or places jobs. Requires gymnasium and numpy.

>>> import gymnasium, pavior.gym
>>> env = gymnasium.make("pavior/Scheduling-v0", machine="torus:8x8x8", load=1.5, jobs=200)
>>> observation, info = env.reset(seed=1)
>>> action = env.action_space.sample(info["action_mask"])
>>> observation, reward, terminated, truncated, info = env.step(action)

An episode is one run of the engine, stepped from decision to decision; instants without a decision are
skipped. Each `reset` draws new jobs or, if there is a log, replays the same ones. The reward is minus the
time integral of the number of waiting jobs since the last decision, in units of time, so the rewards in an
episode add up to minus the total waiting time. An agent that decides like a scheduler gets the same run.

Observations are numbers between 0 and 1. A duration t is scaled to t / (t + m), where m is the mean
estimate of the episode's jobs. Arrays of nodes are indexed `[z, y, x]`:

- `free`: 1 where a node is free;
- `remaining`: the estimated remaining time of the job on a node, or 0 if there is none;
- `jobs` (`Scheduling-v0`: one row per waiting job, oldest first) or `job` (`Allocation-v0`: the job to be
  placed): the job's nodes and three sides as fractions of the machine's, its estimate, and its wait;
- `waiting` (`Scheduling-v0`): w / (w + window) for w waiting jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from pavior._native import Episode, Episodes, Trace
from pavior._scheduler import Scheduler
from pavior._strategy import Strategy
from pavior._types import KeyFunction, MachineName, Value

__all__ = ["AllocationEnv", "SchedulingEnv"]

Observation: TypeAlias = dict[str, npt.NDArray[Any]]
Info: TypeAlias = dict[str, Any]
Reward: TypeAlias = Literal["waiting"] | Callable[[Info], float]
"""Either `waiting`, or a function that computes the reward from a step's `info`."""

COLUMNS = 6
"""The number of values that describe a job."""


class _Env(gymnasium.Env[Observation, np.int64]):
    """The common base class of the two environments."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]
    _arrays: list[tuple[str, str, tuple[int, ...]]]
    """The name, type and shape of each observation array."""

    def __init__(self, episodes: Episodes, reward: Reward, render_mode: str | None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        if reward != "waiting" and not callable(reward):
            raise ValueError(f"reward must be 'waiting' or a function of info, not {reward!r}")
        self.render_mode = render_mode
        self._episodes = episodes
        self._reward = reward
        self._episode: Episode | None = None
        self._nodes = tuple(reversed(episodes.shape))

    def _spaces(self, actions: int, jobs: dict[str, tuple[int, ...]]) -> None:
        shapes = {"remaining": self._nodes, **jobs}
        boxes: dict[str, spaces.Space[Any]] = {
            name: spaces.Box(0.0, 1.0, shape, np.float32) for name, shape in shapes.items()
        }
        self.observation_space = spaces.Dict(  # type: ignore[assignment]
            {"free": spaces.MultiBinary(self._nodes), **boxes}
        )
        self.action_space = spaces.Discrete(actions)
        self._arrays = [("free", "int8", self._nodes)]
        self._arrays += [(name, "float32", shape) for name, shape in shapes.items()]

    def _begin(self, replication: int) -> Episode:
        raise NotImplementedError

    def _told(
        self,
        seen: tuple[list[bytearray], float, bool, float, tuple[int, int, int], bool],
    ) -> tuple[Observation, float, bool, Info]:
        (*arrays, mask), waited, over, time, (waiting, running, completed), valid = seen
        observation = {
            name: np.frombuffer(data, kind).reshape(shape)
            for data, (name, kind, shape) in zip(arrays, self._arrays, strict=True)
        }
        info: Info = {
            "action_mask": np.frombuffer(mask, "int8"),
            "valid": valid,
            "waited": waited,
            "time": time,
            "waiting": waiting,
            "running": running,
            "completed": completed,
        }
        reward = -waited if self._reward == "waiting" else float(self._reward(info))
        return observation, reward, over, info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begins an episode. With `options={"replication": n}`, the jobs are those that `pavior.simulate`
        uses in that replication. Otherwise, they are drawn with `seed`."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**32))
        self._episode = self._begin(int((options or {}).get("replication", drawn)))
        observation, _, _, info = self._told(self._episode.see())
        return observation, info

    def step(
        self, action: np.int64 | int
    ) -> tuple[Observation, float, bool, bool, Info]:
        """Carries out an action and continues to the next decision or the end."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        observation, reward, over, info = self._told(self._episode.step(int(action)))
        return observation, reward, over, False, info

    def render(self) -> str | None:
        """Returns the free nodes as text if `render_mode` is `ansi`, otherwise None."""
        if self.render_mode is None or self._episode is None:
            return None
        return self._episode.drawn()

    def close(self) -> None:
        """Discards the run."""
        self._episode = None


class SchedulingEnv(_Env):
    """`pavior/Scheduling-v0`: the agent chooses the next job to start, and the strategy places it.

    Action i < `window` starts the job at index i in the queue. Action `window` waits for the next arrival
    or departure. `info["action_mask"]` is 1 for each job that could start now, and also for waiting unless
    no events remain. If the mask excludes the action, the environment waits or, if no events remain, starts
    the oldest job that fits; `info["valid"]` is then False.

    `jobs` is the number of jobs per episode (default: all jobs in the log, or 1,000 synthetic jobs).
    `parameters` are the same as for `pavior.simulate`.
    """

    def __init__(
        self,
        machine: MachineName = "torus:8x8x8",
        *,
        strategy: str | type[Strategy] = "tff",
        trace: Trace | str | None = None,
        jobs: int | None = None,
        window: int = 128,
        reward: Reward = "waiting",
        render_mode: str | None = None,
        **parameters: Value | Sequence[str],
    ) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1, not {window}")
        episodes = Episodes(machine, strategy, "fcfs", trace=trace, jobs=jobs, **parameters)
        super().__init__(episodes, reward, render_mode)
        self.window = window
        self._spaces(window + 1, {"jobs": (window, COLUMNS), "waiting": (1,)})

    def _begin(self, replication: int) -> Episode:
        return self._episodes.scheduling(replication, self.window)


class AllocationEnv(_Env):
    """`pavior/Allocation-v0`: the scheduler chooses the next job to start, and the agent chooses its place.

    An action is a base: the index, in row-major order (x fastest), of the node where the job's unrotated box
    begins. `info["action_mask"]` is 1 for each free base. If the mask excludes the action, the first free base
    is used, and `info["valid"]` is False. `strategy` decides whether a job can start at all, and places jobs
    that fit only when rotated. If the scheduler plans a job's nodes, the job gets those.
    """

    def __init__(
        self,
        machine: MachineName = "torus:8x8x8",
        *,
        strategy: str | type[Strategy] = "ff",
        scheduler: str | type[Scheduler] | KeyFunction = "fcfs",
        trace: Trace | str | None = None,
        jobs: int | None = None,
        reward: Reward = "waiting",
        render_mode: str | None = None,
        **parameters: Value | Sequence[str],
    ) -> None:
        episodes = Episodes(machine, strategy, scheduler, trace=trace, jobs=jobs, **parameters)
        super().__init__(episodes, reward, render_mode)
        self._spaces(int(np.prod(self._nodes)), {"job": (COLUMNS,)})

    def _begin(self, replication: int) -> Episode:
        return self._episodes.allocating(replication)


gymnasium.register(id="pavior/Scheduling-v0", entry_point=SchedulingEnv)
gymnasium.register(id="pavior/Allocation-v0", entry_point=AllocationEnv)
