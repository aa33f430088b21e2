"""Runs the notebooks from an empty folder, and checks that they give the stored outputs.

    PAVIOR_NOTEBOOKS=write python -m pytest tests/test_notebooks.py

stores the current outputs.
"""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[3] / "docs/notebooks"
CELL_SECONDS = 60
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def cleaned(notebook: Any) -> Any:
    """Returns a notebook without the parts that differ from run to run."""
    notebook = copy.deepcopy(notebook)
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if output.output_type in ("display_data", "execute_result"):
                output.metadata = {}
            data = output.get("data", {})
            if "text/plain" in data:
                data["text/plain"] = ADDRESS.sub("0x", data["text/plain"])
    return notebook


def given(notebook: Any) -> list[tuple[int, str, str]]:
    """Returns the outputs of the cells: number, kind and text."""
    told = []
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                # Depending on a timer, a kernel sends printed text in one or more pieces.
                follows = bool(told) and told[-1][:2] == (number, output.name)
                before = told.pop()[2] if follows else ""
                told.append((number, output.name, before + output.text))
            for kind, content in sorted(output.get("data", {}).items()):
                # The width of letters in a chart depends on the installed fonts.
                chart = kind.startswith("image/") and 'class="marks"' in content
                told.append((number, kind, "a chart" if chart else content))
    return told


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_give_what_is_stored_in_them(path: Path, tmp_path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    run = copy.deepcopy(stored)
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(
        run, kernel_name="python3", timeout=CELL_SECONDS, resources=where, record_timing=False
    ).execute()
    run = cleaned(run)
    warned = [text for _, kind, text in given(run) if kind == "stderr"]
    assert not warned
    if os.environ.get("PAVIOR_NOTEBOOKS") == "write":
        nbformat.write(run, path)
        return
    assert given(run) == given(stored)
    assert any(kind.startswith("image/") for _, kind, _ in given(run)), "it shows no picture"


def test_there_are_notebooks() -> None:
    assert len(list(NOTEBOOKS.glob("*.ipynb"))) == 4
