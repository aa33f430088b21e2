"""Code that the scripts here share: exiting, reading tables, running `pavior`. Requires only Python 3.11."""

import csv
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

Row = dict[str, str]


def end_with_reader() -> None:
    """Makes the program exit silently when its output is no longer read, as with `| head`."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def unreadable(message: str) -> NoReturn:
    """Exits with an error about the input."""
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(2)


def rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """Returns the rows of a CSV file that has these columns, leaving out repeated headers."""
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            reader = csv.DictReader(lines, restval="")
            if missing := [column for column in columns if column not in (reader.fieldnames or [])]:
                unreadable(f"{path}: no column {', '.join(missing)}")
            found = [row for row in reader if any(row[column] != column for column in columns)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        unreadable(f"{path}: {error}")
    if not found:
        unreadable(f"{path}: no rows")
    return found


def number(text: str) -> float:
    """Parses the number in a cell."""
    try:
        return float(text)
    except ValueError:
        unreadable(f"{text!r} is not a number")


def run(command: list[str]) -> str:
    """Returns a program's output. If that program fails, it prints the reason, and this one exits with its status."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        unreadable(f"{command[0]}: {error}")
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout
