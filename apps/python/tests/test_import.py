"""Tests which modules the package imports."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

import pavior

ADDED = """
import sys
before = set(sys.modules)
import pavior
print(*sorted(set(sys.modules) - before - {"__future__"}))
"""


def test_the_import_brings_nothing_that_takes_longer_than_itself() -> None:
    """Importing `json`, `concurrent.futures` or `typing` takes several times as long as the package."""
    done = subprocess.run([sys.executable, "-c", ADDED], check=True, capture_output=True, text=True)
    added = done.stdout.split()
    assert "pavior._native" in added
    assert [name for name in added if name.split(".")[0] != "pavior"] == []


def test_names_that_come_with_the_first_experiment() -> None:
    assert set(pavior.__all__) <= set(dir(pavior))
    assert all(hasattr(pavior, name) for name in pavior.__all__)
    with pytest.raises(AttributeError, match="module 'pavior' has no attribute 'Experimnt'"):
        pavior.Experimnt  # noqa: B018


def test_the_version_is_that_of_the_package() -> None:
    assert pavior.__version__ == metadata.version("pavior")
