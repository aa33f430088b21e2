"""What can go wrong, as exceptions."""

from __future__ import annotations

__all__ = ["BadName", "Broken", "PaviorError", "Refused"]


class PaviorError(Exception):
    """Every exception of this package derives from it."""


class BadName(PaviorError, ValueError):
    """A name, an option or an experiment that cannot be read."""

    span: tuple[int, int]
    """The characters at fault, from the first to behind the last, in the text that was given."""

    def __init__(self, message: str, span: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message)
        self.span = span

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.span))


class Refused(PaviorError):
    """A request that is not granted now."""

    reason: str
    """The word for the reason, such as `no-free-submesh`."""
    permanent: bool
    """Whether the request is never granted, on a healthy machine and however long one waits."""

    def __init__(self, reason: str, meaning: str = "", permanent: bool = False) -> None:
        super().__init__(f"{reason}: {meaning}" if meaning else reason)
        self.reason = reason
        self.meaning = meaning
        self.permanent = permanent

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.reason, self.meaning, self.permanent))


class Broken(PaviorError):
    """A strategy or scheduler written in Python that does not keep to its contract."""
