"""An agent that places each job at the base with the fewest free neighbors. Requires gymnasium and numpy."""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

import pavior.gym  # registers the environments

SIDE = 12


def snug(free: npt.NDArray[Any], mask: npt.NDArray[Any], job: npt.NDArray[Any]) -> int:
    """Returns the free base whose box touches the fewest free nodes. Ties go to the first base."""
    width, height = (round(float(share) * SIDE) for share in job[1:3])
    room = np.pad(free, 1)
    best, least = int(mask.argmax()), width * height * SIDE
    for base in np.flatnonzero(mask):
        y, x = divmod(int(base), SIDE)
        around = int(room[y : y + height + 2, x : x + width + 2].sum()) - width * height
        if around < least:
            best, least = int(base), around
    return best


def waited(agent: str) -> float:
    """Returns the total waiting time of an episode."""
    env = gymnasium.make(
        "pavior/Allocation-v0", machine=f"mesh:{SIDE}x{SIDE}", load=1.8, jobs=300
    )
    observation, info = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        mask = info["action_mask"]
        if agent == "snug":
            action = snug(observation["free"], mask, observation["job"])
        else:
            action = int(mask.argmax())
        observation, reward, over, _, info = env.step(action)
        total -= float(reward)
    env.close()
    return total


if __name__ == "__main__":
    for agent in ("first base", "snug"):
        print(f"{agent}: 300 jobs wait {waited(agent):.1f} units of time in total")
