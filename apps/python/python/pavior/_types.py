"""Types of arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import (
    Literal,
    NotRequired,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    Union,
)

from pavior._native import Job
from pavior._scheduler import Scheduler
from pavior._strategy import Strategy

__all__ = [
    "ArrowTable",
    "Claim",
    "Freedom",
    "JobName",
    "KeyFunction",
    "MachineName",
    "Node",
    "Numbers",
    "OwnClass",
    "Range",
    "Reason",
    "Several",
    "Shape",
    "Time",
    "Value",
]

MachineName: TypeAlias = Union[str, int, Sequence[int]]
"""A machine: `mesh:16x16`, `torus:8x8x8`, `grid:8wx4x4w`, or the sides of a mesh, such as `(16, 16)`."""
Shape: TypeAlias = Union[Iterable[SupportsIndex], SupportsIndex, str]
"""One to three sides in nodes, x first: `(4, 4, 2)` or `"4x4x2"`. numpy integers and arrays are accepted."""
Node: TypeAlias = Union[Iterable[SupportsIndex], SupportsIndex]
"""The coordinates of a node, x first. On a machine with one axis, an int is also accepted."""
Time: TypeAlias = Union[float, timedelta]
"""A time in the run's units. For replayed logs, a `timedelta` is also accepted."""
JobName: TypeAlias = Union[int, str]
"""The name of a job. 7 and "7" are different names."""
Reason: TypeAlias = Union[
    Literal["empty-request"],
    Literal["larger-than-machine"],
    Literal["unsupported-shape"],
    Literal["too-few-free-nodes"],
    Literal["no-free-submesh"],
]
"""The reason for a refusal. A test checks that these words are the engine's (`REASONS`)."""
Claim: TypeAlias = Union[
    Literal["first"], Literal["complete"], Literal["partial"], Literal["count"]
]
"""A strategy's claim, which `judge` tests. `Strategy` defines each claim."""
Freedom: TypeAlias = Union[
    Literal["box"],
    Literal["turned"],
    Literal["any-box"],
    Literal["connected"],
    Literal["any"],
]
"""The freedom in placing a job. Each word allows everything that the one before it allows."""
_Value = TypeVar("_Value")
Several: TypeAlias = Union[_Value, Iterable[_Value]]
"""A parameter value in an experiment, or several values in a list or a numpy array."""
Range = TypedDict(
    "Range",
    {"from": float, "to": float, "steps": int, "scale": NotRequired[Literal["linear", "log"]]},
)
"""A range of numbers that includes both ends, such as `{"from": 0.5, "to": 2, "steps": 4}`. With
`"scale": "log"`, consecutive numbers have the same ratio."""
Numbers: TypeAlias = Union[_Value, Iterable[_Value], Range]
"""A numeric parameter value in an experiment, several values, or a range."""
Value: TypeAlias = Union[str, float, bool, timedelta, None]
"""A parameter value."""


class ArrowTable(Protocol):
    """Any Arrow table, such as a polars or pandas data frame, a pyarrow table, or a `Table`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


KeyFunction: TypeAlias = Callable[[Job], float]
"""A function that returns a job's key, as `Priority.key` does."""
OwnClass: TypeAlias = Union[type[Strategy], type[Scheduler], KeyFunction]
"""A strategy or scheduler written by the caller."""
