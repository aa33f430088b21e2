"""Experiments: every combination of parameters, replicated until its means can be trusted."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from html import escape
from inspect import cleandoc
from pathlib import Path
from typing import Any, Self, Unpack

from pavior import _progress, _sweep
from pavior._native import Directory, Journal, Progress, Specification, Table, Trace
from pavior._native import Results as NativeResults
from pavior._parameters import Parameters
from pavior._scheduler import NAMELESS, name_of
from pavior._types import OwnClass

__all__ = ["Experiment", "Results"]

LONGEST = 200
"""The most characters of a list in words."""


def _is_own(value: object) -> bool:
    """Whether a value stands for a strategy or a scheduler of the caller: a class or a function."""
    return callable(value)


def _toml(value: object) -> str:
    """A value, or a list of values, as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        # 1e4 is as good a number of jobs as 10000.
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _is_own(value):
        return json.dumps(name_of(value))
    if hasattr(value, "tolist"):  # numpy
        return _toml(value.tolist())
    if isinstance(value, Trace):
        raise TypeError(
            "an experiment reads its logs from files: give the path; simulate(trace=...) takes a Trace"
        )
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, timedelta):
        return _toml(value.total_seconds())
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_toml(member) for member in value) + "]"
    raise TypeError(f"{value!r} is no value of a parameter")


def _machines(value: Any) -> Any:
    """The names of machines; sides are those of a mesh."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, int):
        return f"mesh:{value}"
    if isinstance(value, list | tuple):
        if value and all(isinstance(side, int) or hasattr(side, "__index__") for side in value):
            return "mesh:" + "x".join(str(int(side)) for side in value)
        return [_machines(machine) for machine in value]
    return value


def _lines(parameters: dict[str, Any]) -> str:
    """Keyword arguments as an experiment file has them."""
    lines = []
    for key, value in parameters.items():
        if value is None:
            continue
        if key in ("machine", "machines"):
            value = _machines(value)
        lines.append(f"{key.replace('_', '-')} = {_toml(value)}\n")
    return "".join(lines)


def _own(parameters: dict[str, Any]) -> list[OwnClass]:
    """The strategies and schedulers among keyword arguments that are classes or functions."""
    own: list[OwnClass] = []
    for key in ("strategy", "strategies", "scheduler", "schedulers"):
        given = parameters.get(key, ())
        given = given if isinstance(given, list | tuple) else (given,)
        own += [one for one in given if _is_own(one)]
    return own


def _is_path(source: str | os.PathLike[str]) -> bool:
    """Whether it names a file; every experiment in TOML has an equals sign."""
    if not isinstance(source, str):
        return True
    return bool(source.strip()) and "=" not in source and "\n" not in source.strip()


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _rows(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    columns = [table[name] for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


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
        return f"<p>{escape(self._words())}</p>{self._native.brief._repr_html_()}"

    def __repr__(self) -> str:
        return f"<{self._words()}>\n{self._native.brief!r}"

    def _words(self) -> str:
        points = len(self._specification.points)
        return (
            f"Results of {self._specification.name}: "
            f"{len(self.replications)} replications of {points} points"
        )


class Experiment:
    """Every combination of parameters, replicated: what an experiment file says.

    It is made of keyword arguments, each a value, a list of values, or, for numbers, a range;
    of the path to a file; or of the text of one. The keywords are those of `pavior.simulate`, and
    those that are about several runs, such as `replications` and `precision`: `__init__` lists
    them. A strategy may be a class; a scheduler a class, or a function that gives a job its key.
    Other processes import them by their names. A machine may be the sides of a mesh.

    >>> experiment = Experiment(
    ...     machine="mesh:8x8", strategy=["ff", "tff"], load=[1.0, 2.0], jobs=100, replications=3)
    >>> experiment
    <Experiment of 4 points: load 1, 2; strategy ff, tff>
    >>> len(experiment.run().replications)
    12
    >>> len(Experiment(load={"from": 0.5, "to": 2, "steps": 4}, strategy="tff").points)
    4
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        name: str = "experiment",
        classes: Sequence[OwnClass] = (),
        **parameters: Unpack[Parameters],
    ) -> None:
        """`source` is a path, or a text in TOML; without one, `parameters` are. Logs are looked for
        in `folder`: beside the file, else where the program runs. `classes` are those that a text
        names."""
        if source is None:
            named = {} if name == "experiment" else {"name": name}
            text = _lines({**named, **parameters})
            classes = [*classes, *_own(dict(parameters))]
        elif parameters:
            given = ", ".join(parameters)
            raise TypeError(f"an experiment comes from a file or from keywords ({given}), not both")
        elif _is_path(source):
            path = Path(source)
            text, name = path.read_text("utf-8"), path.stem
            folder = path.parent if folder is None else folder
        else:
            text = os.fspath(source)
        where = "" if folder is None else os.fspath(folder)
        self._specification = Specification(text, folder=where, name=name, classes=classes)
        for one in self.skipped:
            value, machine = one["value"], one["machine"]
            message = f"left out: {one['parameter']} {value} on {machine}: {one['reason']}"
            warnings.warn(message, UserWarning, stacklevel=2)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The old name of `Experiment(path)`."""
        warnings.warn(
            "Experiment.read(path) is the old name of Experiment(path)", DeprecationWarning, 2
        )
        return cls(Path(path))

    @classmethod
    def of(cls, *, folder: str | os.PathLike[str] = "", **parameters: Unpack[Parameters]) -> Self:
        """The old name of `Experiment(**parameters)`."""
        warnings.warn(
            "Experiment.of(...) is the old name of Experiment(...)", DeprecationWarning, 2
        )
        return cls(folder=folder, **parameters)

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
        progress: bool | Callable[[Progress], object] | None = None,
        task_seconds: float = 2.0,
    ) -> Results:
        """Runs until every point is as precise as the experiment asks.

        `on` is None for threads in this process, any executor of PEP 3148, or a Dask client. `out` is
        the command line's directory: what either began, the other goes on with. Work goes out in
        pieces of about `task_seconds`. The bytes of the results do not depend on any of this, on lost
        workers, or on interruptions. A directory knows classes and functions by their names alone: one
        that is changed gets another name, or another directory.

        `progress` True shows on standard error how far the sweep is, False does not; None does after
        two seconds on a terminal; a function of a `Progress` is called at least every half second
        while work is under way.
        """
        report = _progress.reporter(progress, "replications")
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

    def _repr_html_(self) -> str:
        """What varies, and the text."""
        return (
            f"<p>{escape(self._words())}</p><details><summary>{escape(self.name)}.toml</summary>"
            f"<pre>{escape(self.text)}</pre></details>"
        )

    def __repr__(self) -> str:
        return f"<{self._words()}>"

    def _words(self) -> str:
        """How many points there are, and what varies."""
        values: dict[str, list[str]] = {}
        for point in self.points:
            for key, value in point.items():
                known = values.setdefault(key, [])
                if value not in known:
                    known.append(value)
        varying = [
            _shortened(f"{key} {', '.join(known)}")
            for key, known in sorted(values.items())
            if len(known) > 1
        ]
        named = "" if self.name == "experiment" else f" {self.name}"
        points = "1 point" if len(self.points) == 1 else f"{len(self.points)} points"
        words = f"Experiment{named} of {points}"
        # A path may have any characters.
        return "".join(
            letter if letter.isprintable() else "\ufffd" for letter in ": ".join([words, "; ".join(varying)])
        ).removesuffix(": ")


# Python leaves texts out where it is told to.
Experiment.__init__.__doc__ = "\n\n".join(
    cleandoc(text) for text in (Experiment.__init__.__doc__, Parameters.__doc__) if text
)


def _rebuild(
    kind: type[Experiment], text: str, folder: str, name: str, classes: tuple[OwnClass, ...]
) -> Experiment:
    return kind(text, folder=folder, name=name, classes=classes)
