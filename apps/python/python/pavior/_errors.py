"""Exceptions that the package raises."""

from __future__ import annotations

__all__ = ["BadName", "Broken", "PaviorError", "Refused"]


class PaviorError(Exception):
    """The base class of all exceptions that this package defines."""


class BadName(PaviorError, ValueError):
    """Raised for an unknown name, a wrong option, or a malformed experiment.

    >>> from pavior import BadName, Machine
    >>> try:
    ...     Machine("mesh:4x4", "tlb")
    ... except BadName as error:
    ...     error.span
    (0, 3)
    """

    span: tuple[int, int]
    """The range of invalid characters in the given text, as a start and an exclusive end."""

    def __init__(self, message: str, span: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message)
        self.span = span

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.span))


class Refused(PaviorError):
    """Raised if a request is refused.

    >>> from pavior import Machine, Refused
    >>> try:
    ...     Machine("mesh:4x4").allocate((5, 1))
    ... except Refused as error:
    ...     error.reason, error.permanent
    ('larger-than-machine', True)
    """

    reason: str
    """The reason, such as `no-free-submesh`."""
    permanent: bool
    """True if the request can never be granted, even on an empty and healthy machine."""

    def __init__(self, reason: str, meaning: str = "", permanent: bool = False) -> None:
        super().__init__(f"{reason}: {meaning}" if meaning else reason)
        self.reason = reason
        self.meaning = meaning
        self.permanent = permanent

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.reason, self.meaning, self.permanent))


class Broken(PaviorError):
    """Raised if a strategy or scheduler written in Python violates its contract."""
