"""Runs the replications that an experiment wants, on whatever can run them.

Work goes out in spans of about two seconds, because a replication often takes milliseconds and an
engine needs milliseconds to hand one out. What is wanted is a pure function of the replications that
are known, so that neither the engine nor lost workers, nor the order of completion, can change a
result; a span that ran twice gives the same lines twice.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any

from pavior._native import Cancel, Directory, Journal, Progress, Span, Specification
from pavior._progress import Line
from pavior._types import OwnClass

__all__ = ["run"]

POLL_SECONDS = 0.1
"""How long Ctrl-C may wait to be seen."""
REPORT_SECONDS = 0.5
"""How often it is told how far a sweep is while its pieces are under way."""

Sent = tuple[str, str, str, str, tuple[OwnClass, ...]]
"""What a worker makes the experiment of: text, folder, name, fingerprint, classes."""


_read: dict[Sent, Specification] = {}
"""The experiments that this worker has read, the last few."""


def _specification(sent: Sent) -> Specification:
    """The experiment on a worker, read once a process; its logs must be those of the sender."""
    if sent in _read:
        return _read[sent]
    text, folder, name, fingerprint, classes = sent
    specification = Specification(text, folder=folder, name=name, classes=classes)
    if specification.fingerprint != fingerprint:
        raise ValueError(
            "this worker reads another experiment than the one that was sent: another version of "
            f"pavior, or other logs in {folder!r}"
        )
    while len(_read) >= 8:
        _read.pop(next(iter(_read)), None)
    _read[sent] = specification
    return specification


def _replicate(sent: Sent, span: Span) -> tuple[bytes, float]:
    """Runs a span on a worker: the journal's lines, and the seconds that it took."""
    specification = _specification(sent)
    begin = time.perf_counter()
    lines = specification.replicate(span)
    return lines, time.perf_counter() - begin


@contextlib.contextmanager
def _executor(on: Any, threads: int) -> Iterator[tuple[Executor, int]]:
    """Something that runs calls, and how many at a time."""
    if on is None:
        workers = threads or len(os.sched_getaffinity(0))
        pool = ThreadPoolExecutor(workers, thread_name_prefix="pavior")
        try:
            yield pool, workers
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    elif hasattr(on, "get_executor"):  # a Dask client; the pool is left open, the client is the caller's
        yield on.get_executor(pure=False), max(1, sum(on.nthreads().values()))
    elif hasattr(on, "submit"):
        yield on, getattr(on, "_max_workers", None) or 8
    else:
        raise TypeError("run(on=...) takes None, a PEP 3148 executor or a Dask client")


class _Pace:
    """How long a replication of each point takes, as far as is known."""

    def __init__(self, task_seconds: float) -> None:
        self.task_seconds = task_seconds
        self.seconds: dict[int, float] = {}

    def learn(self, span: Span, seconds: float) -> None:
        each = seconds / (span.end - span.first)
        known = self.seconds.get(span.point)
        self.seconds[span.point] = each if known is None else 0.5 * (known + each)

    def cut(self, span: Span, workers: int) -> Iterator[Span]:
        """Spans of about the wanted length; at first short ones, to learn from."""
        count = span.end - span.first
        # A point of which nothing is known may take as long as the slowest that is known.
        each = self.seconds.get(span.point) or max(self.seconds.values(), default=0.0)
        length = max(1, int(self.task_seconds / each) if each else count // (4 * workers))
        for first in range(span.first, span.end, length):
            yield Span(span.point, first, min(first + length, span.end))


def run(
    specification: Specification,
    journal: Journal,
    *,
    on: Any,
    threads: int,
    task_seconds: float,
    report: Callable[[Progress], object] | None,
    directory: Directory | None,
) -> None:
    """Runs what is wanted until nothing is."""
    begin, pace, cancel = time.monotonic(), _Pace(task_seconds), Cancel()
    names = (specification.text, specification.folder, specification.name)
    sent: Sent = (*names, specification.fingerprint, specification.classes)

    def local(span: Span) -> tuple[bytes, float]:
        start = time.perf_counter()
        return specification.replicate(span, cancelled=cancel), time.perf_counter() - start

    told = begin

    def tell() -> None:
        nonlocal told
        told = time.monotonic()
        if report is not None:
            report(specification.progress(journal, told - begin))

    flying: dict[Future[tuple[bytes, float]], Span] = {}
    with _executor(on, threads) as (pool, workers):

        def fill() -> None:
            """Sends out so much that no worker waits."""
            for span in specification.wanted(journal, without=list(flying.values())):
                for part in pace.cut(span, workers):
                    if len(flying) >= 2 * workers:
                        return
                    sends = (local, part) if on is None else (_replicate, sent, part)
                    flying[pool.submit(*sends)] = part

        try:
            while True:
                fill()
                if not flying:
                    return
                done: set[Future[tuple[bytes, float]]] = set()
                while not done:
                    done, _ = wait(flying, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                    if not done and time.monotonic() - told > REPORT_SECONDS:
                        tell()
                for task in done:
                    span = flying.pop(task)
                    lines, seconds = task.result()
                    if directory is not None:
                        directory.keep(lines)
                    journal.add(lines)
                    pace.learn(span, seconds)
                tell()
        finally:
            cancel.cancel()
            if isinstance(report, Line):
                report.end()
            for task in flying:
                task.cancel()
