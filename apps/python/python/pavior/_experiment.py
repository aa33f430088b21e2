"""Experiments: every combination of parameters, replicated until its means can be trusted."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, Self

from pavior import _sweep
from pavior._native import Directory, Journal, Progress, Specification, Table
from pavior._native import Results as NativeResults
from pavior._scheduler import NAMELESS, name_of
from pavior._types import OwnClass

__all__ = ["Experiment", "Results"]


def _is_own(value: object) -> bool:
    """Whether a value stands for a strategy or a scheduler of the caller: a class or a function."""
    return callable(value)


def _toml(value: object) -> str:
    """A value, or a list of values, as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _is_own(value):
        return json.dumps(name_of(value))
    if hasattr(value, "tolist"):  # numpy
        return _toml(value.tolist())
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_toml(member) for member in value) + "]"
    raise TypeError(f"{value!r} is no value of a parameter")


def _rows(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    columns = [table[name] for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Results:
    """What an experiment came to."""

    def __init__(self, native: NativeResults, specification: Specification) -> None:
        self._native = native
        self._specification = specification

    @property
    def means(self) -> Table:
        """A row a point and metric: the mean and the half-width of its 95 % interval."""
        return self._native.means

    @property
    def replications(self) -> Table:
        """A row a replication, a column a metric."""
        return self._native.replications

    @property
    def differences(self) -> Table:
        """Paired differences to the first strategy, over the same jobs."""
        return self._native.differences

    def files(self) -> dict[str, bytes]:
        """The files that the command line writes, by name."""
        return dict(self._native.files())

    def save(self, out: str | os.PathLike[str]) -> None:
        """Writes the files into a directory that the command line can go on with."""
        Directory(os.fspath(out), self._specification).finish(self._native)

    def chart(self, y: str = "turnaround", x: str = "load", color: str = "strategy") -> Any:
        """A metric over a parameter with its intervals, as an Altair chart. Needs altair."""
        altair: Any = importlib.import_module("altair")

        rows = [row for row in _rows(self.means) if row["metric"] == y and row["mean"] is not None]
        if not rows:
            raise KeyError(f"{y} was not observed")
        for row in rows:
            row["low"] = row["mean"] - (row["ci95"] or 0.0)
            row["high"] = row["mean"] + (row["ci95"] or 0.0)
        numeric = all(isinstance(row[x], int | float) for row in rows)
        base = altair.Chart(altair.Data(values=rows)).encode(
            x=altair.X(f"{x}:{'Q' if numeric else 'N'}"), color=altair.Color(f"{color}:N")
        )
        title = f"{y} ({rows[0]['unit']})"
        lines = base.mark_line(point=True).encode(y=altair.Y("mean:Q", title=title))
        bars = base.mark_rule().encode(y="low:Q", y2="high:Q")
        return lines + bars

    def _repr_html_(self) -> str:
        """The means as a table."""
        means = self.means
        head = "".join(f"<th>{escape(name)}</th>" for name in means.columns)
        cell = "<td>{}</td>".format
        rows = _rows(means)
        body = "".join(
            "<tr>" + "".join(cell(escape(_shown(value))) for value in row.values()) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return f"<Results of {self._specification.name}: {len(self.replications)} replications>"


class Experiment:
    """What an experiment file says.

    >>> experiment = Experiment.of(
    ...     machine="mesh:8x8", strategy=["ff", "tff"], load=[1.0, 2.0], jobs=100, replications=3)
    >>> len(experiment.run().replications)
    12
    """

    def __init__(
        self,
        text: str,
        *,
        folder: str | os.PathLike[str] = "",
        name: str = "experiment",
        classes: Sequence[OwnClass] = (),
    ) -> None:
        self._specification = Specification(
            text, folder=os.fspath(folder), name=name, classes=classes
        )
        for one in self.skipped:
            value, machine = one["value"], one["machine"]
            message = f"left out: {one['parameter']} {value} on {machine}: {one['reason']}"
            warnings.warn(message, UserWarning, stacklevel=2)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """An experiment from its file; logs are looked for beside it."""
        path = Path(path)
        return cls(path.read_text("utf-8"), folder=path.parent, name=path.stem)

    @classmethod
    def of(cls, *, folder: str | os.PathLike[str] = "", **parameters: Any) -> Self:
        """An experiment from keyword arguments: a key of experiment files each, `_` for `-`. A strategy
        may be a class, a scheduler a class or a function that gives a job its key. Other processes
        import them by their names."""
        lines = [f"{key.replace('_', '-')} = {_toml(value)}" for key, value in parameters.items()]
        classes: list[OwnClass] = []
        for key in ("strategy", "scheduler"):
            given = parameters.get(key, ())
            given = given if isinstance(given, list | tuple) else (given,)
            classes += [one for one in given if _is_own(one)]
        return cls("\n".join(lines) + "\n", folder=folder, classes=classes)

    @property
    def name(self) -> str:
        """The word that names it in files."""
        return self._specification.name

    @property
    def points(self) -> list[dict[str, str]]:
        """The values of the parameters that are set at each point."""
        return self._specification.points

    @property
    def skipped(self) -> list[dict[str, str]]:
        """What `skip_unsupported` left out: `parameter`, `value`, `machine` and `reason` of each."""
        return self._specification.skipped

    @property
    def text(self) -> str:
        """The file that describes the experiment."""
        return self._specification.text

    @property
    def fingerprint(self) -> str:
        """Equal for experiments whose replications may be mixed."""
        return self._specification.fingerprint

    @property
    def specification(self) -> Specification:
        """The pure functions that engines call: `wanted` and `replicate`."""
        return self._specification

    def run(
        self,
        *,
        on: Any = None,
        out: str | os.PathLike[str] | None = None,
        threads: int = 0,
        progress: bool | Callable[[Progress], object] = False,
        task_seconds: float = 2.0,
    ) -> Results:
        """Runs until every point is as precise as the experiment asks.

        `on` is None for threads in this process, any executor of PEP 3148, or a Dask client. `out` is
        the command line's directory: what either began, the other goes on with. Work goes out in
        pieces of about `task_seconds`. The bytes of the results do not depend on any of this, on lost
        workers, or on interruptions. A directory knows classes and functions by their names alone: one
        that is changed gets another name, or another directory.
        """
        report = _sweep.printed if progress is True else progress or None
        if out is not None and any(name_of(own) == NAMELESS for own in self._specification.classes):
            raise ValueError(
                "a directory knows functions by their names, and this one has none: write it with def"
            )
        directory = None if out is None else Directory(os.fspath(out), self._specification)
        journal = Journal() if directory is None else directory.journal
        _sweep.run(
            self._specification,
            journal,
            on=on,
            threads=threads,
            task_seconds=task_seconds,
            report=report,
            directory=directory,
        )
        native = self._specification.results(journal)
        if directory is not None:
            directory.finish(native)
        return Results(native, self._specification)

    def __reduce__(self) -> tuple[object, ...]:
        given = self._specification
        return (_rebuild, (type(self), given.text, given.folder, given.name, given.classes))

    def __repr__(self) -> str:
        return f"<Experiment {self.name}, {self.fingerprint}>"


def _rebuild(
    kind: type[Experiment], text: str, folder: str, name: str, classes: tuple[OwnClass, ...]
) -> Experiment:
    return kind(text, folder=folder, name=name, classes=classes)
