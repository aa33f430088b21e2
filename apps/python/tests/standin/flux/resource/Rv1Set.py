"""The resources of an R of version 1 (RFC 20)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flux.idset import IDset
from flux.resource.ResourceSetImplementation import ResourceSetImplementation


def _written(ids: set[int] | frozenset[int]) -> str:
    return str(IDset(",".join(map(str, ids))))


def _set(ids: IDset | str) -> set[int]:
    return set(ids if isinstance(ids, IDset) else IDset(ids))


class Rv1Set(ResourceSetImplementation):
    """Ranks, each with numbers of cores and GPUs."""

    def __init__(
        self, arg: str | Mapping[str, Any] | None = None, keep_scheduling: bool = False
    ) -> None:
        document: Mapping[str, Any] = (json.loads(arg) if isinstance(arg, str) else arg) or {}
        execution = document.get("execution", {})
        self.scheduling: Any = document.get("scheduling") if keep_scheduling else None
        self._times = [float(execution.get(key) or 0) for key in ("starttime", "expiration")]
        self._of: dict[int, dict[str, frozenset[int]]] = {}
        for entry in execution.get("R_lite", []):
            has = {name: frozenset(IDset(ids)) for name, ids in entry["children"].items()}
            self._of |= {rank: has for rank in IDset(entry["rank"])}
        properties = execution.get("properties", {})
        self._properties = {name: set(IDset(ids)) for name, ids in properties.items()}

    def to_dict(self) -> dict[str, Any]:
        entries = [
            {"rank": str(rank), "children": {name: _written(ids) for name, ids in has.items()}}
            for rank, has in sorted(self._of.items())
        ]
        execution: dict[str, Any] = {"R_lite": entries}
        execution["starttime"], execution["expiration"] = self._times
        if self._properties:
            execution["properties"] = {n: _written(ids) for n, ids in self._properties.items()}
        document = {"version": 1, "execution": execution}
        return document | ({"scheduling": self.scheduling} if self.scheduling else {})

    def dumps(self) -> str:
        return f"rank{self.ranks()}"

    def nodelist(self) -> list[str]:
        return [f"rank{rank}" for rank in self.ranks()]

    def ranks(self) -> IDset:
        return IDset(",".join(map(str, self._of)))

    def get_properties(self) -> str:
        return json.dumps({name: _written(ids) for name, ids in self._properties.items()})

    def nnodes(self) -> int:
        return len(self._of)

    def count(self, name: str) -> int:
        return sum(len(has.get(name, ())) for has in self._of.values())

    def _copied(self, ranks: set[int]) -> Any:
        twin = object.__new__(type(self))
        twin.scheduling, twin._times = self.scheduling, list(self._times)
        twin._of = {rank: has for rank, has in self._of.items() if rank in ranks}
        twin._properties = {name: ids & ranks for name, ids in self._properties.items()}
        return twin

    def copy(self) -> Any:
        return self._copied(set(self._of))

    def copy_ranks(self, ranks: IDset | str) -> Any:
        return self._copied(_set(ranks))

    def copy_constraint(self, constraint: str | Mapping[str, Any]) -> Any:
        """The ranks that have all of some properties: the one constraint that the tests use."""
        given = json.loads(constraint) if isinstance(constraint, str) else constraint
        sets = [self._properties.get(name, set()) for name in given["properties"]]
        return self._copied(set(self._of).intersection(*sets))

    def union(self, rset: Any) -> Any:
        twin = self.copy()
        twin.append(rset)
        return twin

    def intersect(self, rset: Any) -> Any:
        return self._copied(set(self._of) & set(rset.ranks()))

    def diff(self, rset: Any) -> Any:
        return self._copied(set(self._of) - set(rset.ranks()))

    def append(self, rset: Any) -> None:
        self._of = rset._of | self._of

    def add(self, rset: Any) -> None:
        self.append(rset)

    def remove_ranks(self, ranks: IDset | str) -> Any:
        for rank in _set(ranks):
            self._of.pop(rank, None)
        return self

    def get_starttime(self) -> float:
        return self._times[0]

    def set_starttime(self, starttime: float) -> None:
        self._times[0] = starttime

    def get_expiration(self) -> float:
        return self._times[1]

    def set_expiration(self, expiration: float) -> None:
        self._times[1] = expiration
