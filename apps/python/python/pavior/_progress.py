"""Shows the progress of a long call on one line of standard error."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pavior._native import Progress

__all__ = ["Line", "reporter"]

PATIENCE_SECONDS = 2.0
"""The time after which progress is shown by default, in seconds."""
WIDTH = 20
"""The width of the bar, in characters."""


class Line:
    """A progress line that overwrites itself."""

    def __init__(self, counted: str, patience: float = 0.0) -> None:
        self._counted = counted
        self._patience = patience
        self._width = 0
        self._known: int | None = None

    def __call__(self, progress: Progress) -> None:
        if self._known is None:
            self._known = progress.done
        over = progress.points_done == progress.points
        if progress.seconds < self._patience or (over and not self._width and self._patience):
            return
        text = description(progress, self._counted, self._known)
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)
        if over:
            self.end()

    def end(self) -> None:
        """Ends the line, if one was written."""
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
            self._width = 0


def description(progress: Progress, counted: str, known: int) -> str:
    """Formats the progress and time, with a bar if the total is known. `known` is the number of items
    done before the call."""
    done, planned = progress.done, progress.planned
    words = f"{done} of {planned} {counted}" if planned else f"{done} {counted}"
    if progress.points > 1:
        words = f"{progress.points_done} of {progress.points} points, {words}"
    words += f", {length(progress.seconds)}"
    if not planned:
        return words
    share, new = min(1.0, done / planned), done - known
    if 0.02 < share < 1.0 and new > 0 and progress.seconds > 1.0:
        words += f", about {length(progress.seconds * (planned - done) / new)} left"
    bar = ("#" * round(WIDTH * share)).ljust(WIDTH, "-")
    return f"[{bar}] {share:4.0%}  {words}"


def length(seconds: float) -> str:
    """Formats a duration, such as `42 s`, `3 min 20 s` or `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def reporter(
    progress: bool | Callable[[Progress], object] | None, counted: str
) -> Callable[[Progress], object] | None:
    """Returns the callback for a `progress` argument, or None."""
    if progress is True:
        return Line(counted)
    if progress is None:
        # In files and notebooks, progress lines would remain in the output, so none are written there.
        watched = sys.stderr is not None and sys.stderr.isatty()
        return Line(counted, PATIENCE_SECONDS) if watched else None
    if progress is False:
        return None
    if not callable(progress):
        raise TypeError(f"progress must be True, False or a function, not {progress!r}")
    return progress
