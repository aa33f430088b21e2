"""Runs the replications of an experiment on threads, an executor or a Dask client.

Work is distributed in spans that take about two seconds, because a single replication often takes only
milliseconds, about as long as an engine needs to distribute it. Which spans remain depends only on the
known replications, so the engine, lost workers and the order of completion cannot change a result. A
span that is run twice produces the same lines both times.
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
"""The interval between checks for Ctrl-C."""
REPORT_SECONDS = 0.5
"""The interval between progress reports."""

Sent = tuple[str, str, str, str, tuple[OwnClass, ...]]
"""The data from which a worker recreates the experiment: text, folder, name, fingerprint, classes."""


_read: dict[Sent, Specification] = {}
"""The experiments that this worker has read most recently."""


def _specification(sent: Sent) -> Specification:
    """Returns the experiment on a worker, parsed once per process. The worker must have the sender's logs."""
    if sent in _read:
        return _read[sent]
    text, folder, name, fingerprint, classes = sent
    specification = Specification(text, folder=folder, name=name, classes=classes)
    if specification.fingerprint != fingerprint:
        raise ValueError(
            "this worker has read a different experiment than the one sent: its version of pavior "
            f"or its logs in {folder!r} differ"
        )
    while len(_read) >= 8:
        _read.pop(next(iter(_read)), None)
    _read[sent] = specification
    return specification


def _replicate(sent: Sent, span: Span) -> tuple[bytes, float]:
    """Runs a span on a worker. Returns the lines for the journal and the time taken, in seconds."""
    specification = _specification(sent)
    begin = time.perf_counter()
    lines = specification.replicate(span)
    return lines, time.perf_counter() - begin


@contextlib.contextmanager
def _executor(on: Any, threads: int) -> Iterator[tuple[Executor, int]]:
    """Yields an executor and its number of workers."""
    if on is None:
        workers = threads or len(os.sched_getaffinity(0))
        pool = ThreadPoolExecutor(workers, thread_name_prefix="pavior")
        try:
            yield pool, workers
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    elif hasattr(on, "get_executor"):  # the caller's Dask client, which stays open
        yield on.get_executor(pure=False), max(1, sum(on.nthreads().values()))
    elif hasattr(on, "submit"):
        yield on, getattr(on, "_max_workers", None) or 8
    else:
        raise TypeError("run(on=...) accepts None, a PEP 3148 executor or a Dask client")


class _Pace:
    """The estimated duration of a replication at each point."""

    def __init__(self, task_seconds: float) -> None:
        self.task_seconds = task_seconds
        self.seconds: dict[int, float] = {}

    def learn(self, span: Span, seconds: float) -> None:
        each = seconds / (span.end - span.first)
        known = self.seconds.get(span.point)
        self.seconds[span.point] = each if known is None else 0.5 * (known + each)

    def cut(self, span: Span, workers: int) -> Iterator[Span]:
        """Cuts a span into spans of about the target duration. The first ones are short, to measure speed."""
        count = span.end - span.first
        # An unmeasured point is assumed to be as slow as the slowest measured point.
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
    """Runs all remaining spans."""
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
            """Submits enough work to keep all workers busy."""
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
