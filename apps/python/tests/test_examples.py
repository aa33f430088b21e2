"""Tests the example programs and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pavior

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_programs_run(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout and not done.stderr, done.stderr


README = (EXAMPLES.parent / "README.md").read_text("utf-8")
BLOCKS = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "client" not in block]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_what_the_readme_shows_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Two replications are enough to show that the example runs.
    block = BLOCKS[number].replace("precision=0.05", "replications=2")
    exec(compile(block, f"block {number} of the README", "exec"), {"__name__": "readme"})


def test_doc_strings() -> None:
    tried = 0
    for module in pkgutil.iter_modules(pavior.__path__, "pavior."):
        result = doctest.testmod(importlib.import_module(module.name))
        assert not result.failed, module.name
        tried += result.attempted
    assert tried
