"""What a pool of resources must offer to a scheduler."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from flux.resource.ResourceSetImplementation import ResourceSetImplementation


class InsufficientResources(OSError):
    """Not now."""


class InfeasibleRequest(OSError):
    """Never."""


class ResourcePoolImplementation(ResourceSetImplementation):
    """A set of resources of which parts are granted to jobs."""

    generation: int = 0

    def log(self, level: int, msg: str) -> None:
        """Takes a message."""

    def _bump(self) -> None:
        self.generation += 1

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def expiration(self) -> float:
        return self.get_expiration()

    @expiration.setter
    def expiration(self, value: float) -> None:
        self.set_expiration(value)

    @abstractmethod
    def mark_up(self, ids: str) -> None: ...

    @abstractmethod
    def mark_down(self, ids: str) -> None: ...

    @abstractmethod
    def copy_down(self) -> Any: ...

    @abstractmethod
    def register_alloc(self, jobid: int, R: Any) -> None: ...

    @abstractmethod
    def free(self, jobid: int, R: Any = None, final: bool = False) -> None: ...

    @abstractmethod
    def update_expiration(self, jobid: int, expiration: float) -> None: ...

    @abstractmethod
    def job_end_times(self) -> Any: ...

    @abstractmethod
    def parse_resource_request(self, jobspec: dict[str, Any]) -> Any: ...

    @abstractmethod
    def alloc(self, jobid: int, request: Any) -> Any: ...

    @abstractmethod
    def check_feasibility(self, request: Any) -> None: ...

    @abstractmethod
    def copy(self) -> Any: ...

    @abstractmethod
    def copy_allocated(self) -> Any: ...

    @abstractmethod
    def to_set(self) -> Any: ...
