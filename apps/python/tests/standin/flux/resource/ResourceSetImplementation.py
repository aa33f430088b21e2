"""What a set of resources must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from flux.idset import IDset


class ResourceSetImplementation(ABC):
    """Ranks with their cores and GPUs."""

    @abstractmethod
    def dumps(self) -> str: ...

    @abstractmethod
    def nodelist(self) -> Any: ...

    @abstractmethod
    def ranks(self) -> IDset: ...

    @abstractmethod
    def get_properties(self) -> str: ...

    @abstractmethod
    def nnodes(self) -> int: ...

    @abstractmethod
    def count(self, name: str) -> int: ...

    @abstractmethod
    def copy(self) -> Any: ...

    @abstractmethod
    def copy_ranks(self, ranks: IDset | str) -> Any: ...

    @abstractmethod
    def union(self, rset: Any) -> Any: ...

    @abstractmethod
    def intersect(self, rset: Any) -> Any: ...

    @abstractmethod
    def diff(self, rset: Any) -> Any: ...

    @abstractmethod
    def append(self, rset: Any) -> None: ...

    @abstractmethod
    def add(self, rset: Any) -> None: ...

    @abstractmethod
    def remove_ranks(self, ranks: IDset | str) -> Any: ...

    @abstractmethod
    def get_expiration(self) -> float: ...

    @abstractmethod
    def set_expiration(self, expiration: float) -> None: ...

    @abstractmethod
    def get_starttime(self) -> float: ...

    @abstractmethod
    def set_starttime(self, starttime: float) -> None: ...
