"""Tests that the check of a placements file finds every fault, and none in a correct file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pavior import simulate
from test_doors import ROOT

Line = dict[str, Any]


def line(job: int, start: Any = 0, end: float | None = 10, /, **more: Any) -> Line:
    """Returns a job of one node at x = 0, y = 1, modified by `more`."""
    parts = [{"base": [0, 1], "sides": [1, 1]}]
    return {"job": job, "submit": 0, "start": start, "end": end, "nodes": 1, "parts": parts} | more


def box(nodes: int, *parts: tuple[list[int], list[int]]) -> Line:
    """Returns the keys of a job with this number of nodes, in parts given by base and sides."""
    return {"nodes": nodes, "parts": [{"base": base, "sides": sides} for base, sides in parts]}


def check(path: Path, text: str, machine: str = "mesh:4x4") -> subprocess.CompletedProcess[str]:
    """Runs the script on a file."""
    path.write_text(text)
    command = [sys.executable, str(ROOT / "examples" / "placements.py"), str(path), machine]
    return subprocess.run(command, capture_output=True, text=True)


def written(lines: list[Line]) -> str:
    """Formats lines as in a placements file."""
    return "".join(json.dumps(one) + "\n" for one in lines)


FAULTY: dict[str, tuple[list[Line], str]] = {
    "ends early": ([line(1, 5, 4)], "job 1 ends at 4, before it starts at 5"),
    "starts early": ([line(1, submit=3)], "job 1 starts at 0, before it is submitted at 3"),
    "overlap": (
        [line(1, **box(4, ([0, 0], [2, 2]))), line(2, 9)],
        "at 9 the jobs 1 and 2 both hold [0, 1]",
    ),
    "overlap of many nodes": (
        [line(1, **box(4, ([0, 0], [2, 2]))), line(2, 9, **box(4, ([0, 0], [1, 4])))],
        "at 9 the jobs 1 and 2 both hold [0, 0] and 1 more",
    ),
    "overlap with a job without end": (
        [line(1, 0, None), line(2, 90, 91)],
        "at 90 the jobs 1 and 2 both hold [0, 1]",
    ),
    "base and sides of fewer axes": (
        [line(1, **box(1, ([0, 0], [1, 1]))), line(2, 9, **box(1, ([0], [1])))],
        "at 9 the jobs 1 and 2 both hold [0, 0]",
    ),
    "sides of fewer axes": (
        [line(1), line(2, 9, **box(1, ([0, 1], [1])))],
        "at 9 the jobs 1 and 2 both hold [0, 1]",
    ),
    "more axes": (
        [line(1, **box(1, ([0, 0, 0], [1, 1, 1])))],
        "job 1: {'base': [0, 0, 0], 'sides': [1, 1, 1]} has more axes than the machine",
    ),
    "side of 0": (
        [line(1, **box(0, ([0, 0], [0, 1])))],
        "job 1: {'base': [0, 0], 'sides': [0, 1]} has a side below 1",
    ),
    "negative side": (
        [line(1, **box(1, ([0, 0], [-1, -1])))],
        "job 1: {'base': [0, 0], 'sides': [-1, -1]} has a side below 1",
    ),
    "fewer nodes": (
        [line(1, **box(5, ([0, 0], [2, 2])))],
        "job 1 has 5 nodes, and parts of 4",
    ),
    "more nodes": ([line(1, **box(3, ([0, 0], [2, 2])))], "job 1 has 3 nodes, and parts of 4"),
    "no nodes": ([line(1, **box(0))], "job 1 has 0 nodes, and parts of 0"),
    "node held twice": (
        [line(1, **box(2, ([0, 0], [1, 1]), ([0, 0], [1, 1])))],
        "job 1 holds [0, 0] twice",
    ),
    "base outside": (
        [line(1, **box(1, ([4, 0], [1, 1])))],
        "job 1: {'base': [4, 0], 'sides': [1, 1]} is outside the machine",
    ),
    "end outside": (
        [line(1, **box(2, ([3, 0], [2, 1])))],
        "job 1: {'base': [3, 0], 'sides': [2, 1]} is outside the machine",
    ),
    "no length and outside": (
        [line(1, 5, 5, **box(1, ([0, 9], [1, 1])))],
        "job 1: {'base': [0, 9], 'sides': [1, 1]} is outside the machine",
    ),
    "no length and fewer nodes": ([line(1, 5, 5, nodes=2)], "job 1 has 2 nodes, and parts of 1"),
    "no length while another job holds": (
        [line(1), line(2, 5, 5)],
        "at 5 the jobs 1 and 2 both hold [0, 1]",
    ),
    "moved from nowhere": ([line(1, moved=1)], "job 1 moves at 0, and has no earlier stay"),
    "moved late": (
        [line(1), line(1, 11, 12, moved=1)],
        "job 1 moves at 11, and does not continue as it was",
    ),
    "moved to fewer nodes": (
        [line(1, **box(2, ([2, 2], [2, 1]))), line(1, 10, 12, moved=1)],
        "job 1 moves at 10, and does not continue as it was",
    ),
    "a move left out": (
        [line(1), line(1, 10, 12, moved=2)],
        "job 1 moves at 10, and does not continue as it was",
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_one_line_and_status_1(name: str, tmp_path: Path) -> None:
    lines, fault = FAULTY[name]
    done = check(tmp_path / "p.jsonl", written(lines))
    shown = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert shown[0] == fault
    assert shown[1].endswith(" 1 faults")


UNREADABLE = {
    "empty": ("", "no placements"),
    "blank": ("\n\n", "no placements"),
    "cut": (written([line(1)]) + '{"job":2,', "line 2: Expecting"),
    "no JSON": ("job 1\n", "line 1: Expecting"),
    "a list": ("[1]\n", "line 1: no object"),
    "no start": ('{"job":1,"submit":0,"end":1}\n', 'line 1: "submit", "start" and "end"'),
    "no end": ('{"job":1,"submit":0,"start":0}\n', 'line 1: "submit", "start" and "end"'),
    "start in words": (written([line(1, "5")]), 'line 1: "submit", "start" and "end"'),
    "endless": (written([line(1, 0, float("inf"))]), "line 1: Infinity is not a number"),
    "overflow": ('{"job":1,"submit":0,"start":0,"end":1e999}\n', 'line 1: "submit", "start" and "end"'),
    "no job": (written([line(1, job=None)]), 'line 1: "job"'),
    "nodes are a list": (written([line(1, nodes=[1])]), 'line 1: "nodes"'),
    "no parts": (written([line(1, parts=None)]), 'line 1: "parts"'),
    "part without sides": (written([line(1, parts=[{"base": [0]}])]), 'line 1: "parts"'),
    "half a node": (written([line(1, parts=[{"base": [0.5], "sides": [1]}])]), 'line 1: "parts"'),
    "moved is not a number": (written([line(1, moved=True)]), 'line 1: "moved"'),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_a_message_and_status_2(name: str, tmp_path: Path) -> None:
    text, message = UNREADABLE[name]
    done = check(tmp_path / "p.jsonl", text)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("machine", ["", "mesh", "mesh:4xx4", "mesh:4wx4", "mesh:0x4", "ring:4x4"])
def test_a_machine_that_is_none_is_a_message_and_status_2(machine: str, tmp_path: Path) -> None:
    done = check(tmp_path / "p.jsonl", written([line(1)]), machine)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a machine" in done.stderr


SOUND = {
    "one after the other": ("mesh:4x4", [line(1), line(2, 10, 20)]),
    "no length between two": ("mesh:4x4", [line(1), line(2, 10, 10), line(3, 10, 10), line(4, 10, 20)]),
    "past the end of a ring": ("torus:4x4", [line(1, **box(4, ([3, 3], [2, 2])))]),
    "past the end of one axis": ("grid:4wx4", [line(1, **box(4, ([3, 2], [2, 2])))]),
    "moves": ("mesh:4x4", [line(1), line(2, 0, 5, **box(1, ([2, 2], [1, 1]))), line(1, 10, 12, moved=1)]),
    "two of a number that both move": (
        "mesh:4x4",
        [
            line(1),
            line(1, 0, 8, **box(1, ([3, 3], [1, 1]))),
            line(1, 8, 9, moved=1, **box(1, ([3, 2], [1, 1]))),
            line(1, 10, 12, moved=1),
        ],
    ),
    "names and blank lines": ("mesh:4x4", [line(1, job="a"), line(1, 10, None, job="b", hops=1.5)]),
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_where_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    machine, lines = SOUND[name]
    done = check(tmp_path / "p.jsonl", written(lines).replace("\n", "\n\n"), machine)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    firsts = [one for one in lines if "moved" not in one]
    assert done.stdout.startswith(f"{len(firsts)} jobs started, ") and " 0 faults\n" in done.stdout


def test_the_means_are_those_of_whole_jobs(tmp_path: Path) -> None:
    lines = [line(1, 2, 10), line(1, 10, 14, moved=1), line(2, 14, 14), line(3, 20, None)]
    done = check(tmp_path / "p.jsonl", written(lines))
    assert done.stdout.splitlines() == [
        "3 jobs started, 2 of them ended, 0 faults",
        "waiting: 8.0",
        "service: 6.0",
        "turnaround: 14.0",
    ]


@pytest.mark.parametrize(
    ("machine", "strategy", "axes"), [("torus:8x8", "gabl", 2), ("mesh:8x8", "mbs", 2), ("grid:4wx4x5", "tff", 3)]
)
def test_nothing_is_found_in_a_run(machine: str, strategy: str, axes: int, tmp_path: Path) -> None:
    jobs = simulate(machine, strategy, load=2.0, jobs=100).jobs
    lines = [
        {
            **{key: jobs[key][row] for key in ["job", "submit", "start", "end"]},
            **box(jobs["granted_nodes"][row], *((one[:axes], one[3 : 3 + axes]) for one in jobs["boxes"][row])),
        }
        for row in range(len(jobs["job"]))
        if jobs["start"][row] is not None
    ]
    done = check(tmp_path / "p.jsonl", written(lines), machine)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith(f"{len(lines)} jobs started, 100 of them ended, 0 faults\n")
