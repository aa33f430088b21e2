"""Experiments, which run every combination of parameters until the means are precise enough."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
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
"""The maximum length of a formatted list, in characters."""


def _is_own(value: object) -> bool:
    """Returns True for a strategy or scheduler of the caller's own, which is a class or a function."""
    return callable(value)


def _plain(value: Any) -> Any:
    """Converts numpy values, and any iterables except text, to Python values and lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(member) for member in value]
    return value


def _has_duration(value: Any) -> bool:
    """Returns True if a plain value is or contains a `timedelta`."""
    if isinstance(value, dict | list):
        members = value.values() if isinstance(value, dict) else value
        return any(_has_duration(member) for member in members)
    return isinstance(value, timedelta)


def _toml(value: object) -> str:
    """Formats a plain value, or a list of values, as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        # 1e4 is also accepted as a number of jobs.
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _is_own(value):
        return json.dumps(name_of(value))
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, timedelta):
        return _toml(value.total_seconds())
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(member) for member in value) + "]"
    raise TypeError(f"{value!r} is not a valid parameter value")


def _machines(value: Any) -> Any:
    """Returns machine names, with sides converted to the name of a mesh."""
    if isinstance(value, int):
        return f"mesh:{value}"
    if isinstance(value, list):
        if value and all(hasattr(side, "__index__") for side in value):
            return "mesh:" + "x".join(str(int(side)) for side in value)
        return [_machines(machine) for machine in value]
    return value


def _lines(parameters: dict[str, Any]) -> str:
    """Formats keyword arguments as an experiment file."""
    lines = []
    for key, value in parameters.items():
        if value is None:
            continue
        if key in ("machine", "machines"):
            value = _machines(value)
        lines.append(f"{key.replace('_', '-')} = {_toml(value)}\n")
    return "".join(lines)


def _named(value: Any, logs: dict[str, Trace]) -> Any:
    """Replaces each Trace with a name, and adds the Trace to `logs` under that name."""
    if isinstance(value, list):
        return [_named(one, logs) for one in value]
    if not isinstance(value, Trace):
        return value
    name = f"table {len(logs) + 1}"
    logs[name] = value
    return name


def _own(parameters: dict[str, Any]) -> list[OwnClass]:
    """Returns the classes and functions among the strategies and schedulers."""
    own: list[OwnClass] = []
    for key in ("strategy", "strategies", "scheduler", "schedulers"):
        given = parameters.get(key, [])
        given = given if isinstance(given, list) else [given]
        own += [one for one in given if _is_own(one)]
    return own


def _is_path(source: str | os.PathLike[str]) -> bool:
    """Returns True for a file path. Unlike TOML text, a path contains no equals sign."""
    if not isinstance(source, str):
        return True
    return bool(source.strip()) and "=" not in source and "\n" not in source.strip()


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


class Results:
    """The results of an experiment."""

    def __init__(self, native: NativeResults, specification: Specification) -> None:
        self._native = native
        self._specification = specification

    @property
    def means(self) -> Table:
        """A table of means and their 95% half-widths, with one row per point and metric."""
        return self._native.means

    @property
    def replications(self) -> Table:
        """A table of samples, with one row per replication and one column per metric."""
        return self._native.replications

    @property
    def differences(self) -> Table:
        """A table of paired differences from the baseline strategy, over the same jobs."""
        return self._native.differences

    def files(self) -> dict[str, bytes]:
        """Returns the files that the command line would write, by name."""
        return dict(self._native.files())

    def save(self, out: str | os.PathLike[str]) -> None:
        """Writes the files into a directory from which the command line can continue."""
        Directory(os.fspath(out), self._specification).finish(self._native)

    def chart(self, y: str = "turnaround", x: str = "load", color: str = "strategy") -> Any:
        """Plots a metric against a parameter, with intervals, as an Altair chart. Requires altair.

        Raises `KeyError` if the metric `y` was not measured.
        """
        altair: Any = importlib.import_module("altair")

        rows = [row for row in self.means if row["metric"] == y and row["mean"] is not None]
        if not rows:
            raise KeyError(f"{y} was not measured")
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
        """Shows the means as a table."""
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
    """Runs of every combination of parameters, with replications, as in an experiment file.

    An experiment is created from keyword arguments, from the path to a file, or from a file's text.
    Each keyword takes a value, a list of values or, for numbers, a range. The keywords are those of
    `pavior.simulate`, plus those that concern several runs, such as `replications` and `precision`;
    `__init__` lists them all. A strategy may be a class, and a scheduler may be a class or a function
    that returns a job's key; other processes import them by name. A machine may be given by the sides
    of a mesh. A log may be given by a `Trace`, but only if the runs use threads in this process.

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
        """Creates an experiment from `source`, which is a path or TOML text, or from `parameters`.

        `folder` is the directory that contains the logs (default: the file's directory, or else the
        current one). `name` is used in files (default: the file's name without its extension).
        `classes` are the strategies and schedulers that the text names. Raises `BadName` if the
        experiment cannot be read."""
        logs: dict[str, Trace] = {}
        given: dict[str, Any] = _plain(parameters)
        if source is None:
            named: dict[str, Any] = {} if name == "experiment" else {"name": name}
            for key, value in given.items():
                named[key] = _named(value, logs) if key in ("trace", "traces") else value
            text = _lines(named)
            classes = [*classes, *_own(given)]
        elif parameters:
            keywords = ", ".join(parameters)
            raise TypeError(f"an experiment needs either a file or keywords ({keywords}), not both")
        elif _is_path(source):
            path = Path(source)
            text = path.read_text("utf-8")
            name = path.stem if name == "experiment" else name
            folder = path.parent if folder is None else folder
        else:
            text = os.fspath(source)
        where = "" if folder is None else os.fspath(folder)
        self._specification = Specification(
            text, folder=where, name=name, classes=classes, logs=logs
        )
        if _has_duration(given) and not all("trace" in point for point in self.points):
            raise ValueError("a timedelta is in seconds, but synthetic jobs use abstract time units")
        for one in self.skipped:
            value, machine = one["value"], one["machine"]
            message = f"left out: {one['parameter']} {value} on {machine}: {one['reason']}"
            warnings.warn(message, UserWarning, stacklevel=2)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Deprecated; use `Experiment(path)`."""
        warnings.warn(
            "Experiment.read(path) is deprecated; use Experiment(path)", DeprecationWarning, 2
        )
        return cls(Path(path))

    @classmethod
    def of(cls, *, folder: str | os.PathLike[str] = "", **parameters: Unpack[Parameters]) -> Self:
        """Deprecated; use `Experiment(**parameters)`."""
        warnings.warn(
            "Experiment.of(...) is deprecated; use Experiment(...)", DeprecationWarning, 2
        )
        return cls(folder=folder, **parameters)

    @property
    def name(self) -> str:
        """The experiment's name, which is used in files."""
        return self._specification.name

    @property
    def points(self) -> list[dict[str, str]]:
        """The parameter values at each point."""
        return self._specification.points

    @property
    def skipped(self) -> list[dict[str, str]]:
        """The combinations that `skip_unsupported` left out, with the reasons."""
        return self._specification.skipped

    @property
    def text(self) -> str:
        """The text of the experiment file."""
        return self._specification.text

    @property
    def fingerprint(self) -> str:
        """A fingerprint. Experiments with equal fingerprints have interchangeable replications."""
        return self._specification.fingerprint

    @property
    def specification(self) -> Specification:
        """The object whose pure functions, `wanted` and `replicate`, are called by engines."""
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
        """Runs the experiment until every point is as precise as requested.

        Parameters
            on: None for threads in this process, any PEP 3148 executor, or a Dask client
            out: a directory for results; the command line can continue from it, and vice versa
            threads: the number of threads; 0 means one per processor
            progress: True shows progress on standard error, False does not; None shows it after
                two seconds on a terminal; a function is called with a `Progress` at least every half
                second
            task_seconds: the target duration of a task

        The results do not depend on any of these, nor on lost workers or interruptions. A directory
        identifies classes and functions only by name, so after changing one, use another name or
        another directory.
        """
        report = _progress.reporter(progress, "replications")
        if out is not None and any(name_of(own) == NAMELESS for own in self._specification.classes):
            raise ValueError(
                "a directory identifies functions by name: define this one with def"
            )
        if out is not None and self._specification.logs:
            raise ValueError("a directory identifies logs by path: pass a path, not a Trace")
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
        given.__reduce__()  # Raises an error if there is a Trace, which cannot leave its process.
        again = partial(type(self), given.text, folder=given.folder, name=given.name, classes=given.classes)
        return (again, ())

    def _repr_html_(self) -> str:
        """Shows the parameters that vary, and the text."""
        return (
            f"<p>{escape(self._words())}</p><details><summary>{escape(self.name)}.toml</summary>"
            f"<pre>{escape(self.text)}</pre></details>"
        )

    def __repr__(self) -> str:
        return f"<{self._words()}>"

    def _words(self) -> str:
        """Describes the number of points and the parameters that vary."""
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
        # A path may contain any characters.
        return "".join(
            letter if letter.isprintable() else "\ufffd" for letter in ": ".join([words, "; ".join(varying)])
        ).removesuffix(": ")


# With -OO, Python removes docstrings.
Experiment.__init__.__doc__ = "\n\n".join(
    cleandoc(text) for text in (Experiment.__init__.__doc__, Parameters.__doc__) if text
)
