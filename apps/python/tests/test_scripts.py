"""Tests that the scripts in examples/ end cleanly on wrong input, without data, and on a closed pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"

RESULTS = "trace,pattern,communication,machine,strategy,scheduler,metric,mean\n" + "".join(
    f"log.swf,near-neighbour,0,mesh:4x4,{strategy},{scheduler},{metric},7200\n"
    for strategy, scheduler in [("mbs", "easy"), ("bf:turn=all", "easy-freedom")]
    for metric in ["waiting", "service", "turnaround"]
)
HEAD = "log,machine,first,share,choice,waiting,service,turnaround,moves,nodes_moved,migration_time,seconds\n"
CHOICES = ["count", "box", "turned", "any-box", "connected", "any"]
TABLES = HEAD + "".join(f"log,mesh:4x4,all,0.1,{name},60,60,120,,,,1\n" for name in [*CHOICES, "pays"])
MOVES = HEAD + "".join(f"log,mesh:4x4,all,none,{name},60,60,120,8,32,60,1\n" for name in [*CHOICES, "moves 0"])
PLACED = "".join(
    f'{{"job":{job},"submit":{job},"start":{job},"end":{job + 1},"nodes":1,"parts":[{{"base":[0],"sides":[1]}}]}}\n'
    for job in range(100)
)
PAVIOR = """#!/bin/sh
echo '{"results":[{"metrics":{"service":{"mean":1}}}]}'
"""
FILES = {
    "empty.csv": "",
    "head.csv": HEAD,
    "text.txt": "Some words,\nand more of them.\n",
    "results.csv": RESULTS,
    "unknown.csv": RESULTS.replace("7200", "long"),
    "waiting.csv": "".join(line for line in RESULTS.splitlines(True) if "service" not in line),
    "tables.csv": TABLES,
    "moves.csv": MOVES,
    "placed.jsonl": PLACED,
    "log.swf": "; A log.\n1 0 0 1 1\n",
    "no-jobs.swf": "; A log.\n",
    "plain.swf.gz": "1 0 0 1 1\n",
    "pavior": PAVIOR,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates a folder with the files in which the scripts run."""
    folder = tmp_path_factory.mktemp("scripts")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "pavior").chmod(0o755)
    return folder


def command(line: str) -> list[str]:
    """Returns the command that runs the script named in a line."""
    script, *more = line.split()
    return [sys.executable, str(EXAMPLES / script), *more]


REFUSED = {
    "beside_accasim.py nofile.swf 4 python3": "No such file",
    "beside_accasim.py no-jobs.swf 4 python3": "No module named 'accasim'",
    "break_even.py nofile.csv": "No such file",
    "break_even.py empty.csv": "no column machine",
    "break_even.py text.txt": "no column machine",
    "break_even.py unknown.csv": "'long' is not a number",
    "break_even.py waiting.csv": "no service of mbs",
    "break_even.py results.csv --pattern ring": "no results under easy with the pattern ring",
    "break_even.py results.csv --scheduler nosuch": "no results under nosuch with",
    "break_even.py results.csv --moves empty.csv": "empty.csv: no column log",
    "break_even.py results.csv --moves head.csv": "head.csv: no rows",
    "break_even.py results.csv --moves results.csv": "results.csv: no column log",
    "break_even.py results.csv --moves tables.csv": "tables.csv: no free moves",
    "freedom.py --moves nofile.csv": "No such file",
    "freedom.py --moves empty.csv": "no column log",
    "freedom.py --moves tables.csv": "no moves",
    "freedom.py --tables nofile.csv": "No such file",
    "freedom.py --tables moves.csv": "no log and share with all of count",
    "freedom.py . --logs KTH,NOSUCH": "no log's name begins with NOSUCH",
    "freedom.py . --choices nosuch": "no choice nosuch",
    "choice_pairs.py . --logs NOSUCH": "no log's name begins with NOSUCH",
    "choice_pairs.py . --pavior /nonexistent": "/nonexistent: ",
    "bricks.py .": ".: no scenario",
    "choice_cases.py . runs.csv --logs NOSUCH": "no log's name begins with NOSUCH",
    "choice_cases.py . runs.csv --choices nosuch": "no choice nosuch",
    "choice_cases.py --cases nofile.csv": "No such file",
    "choice_cases.py --cases head.csv": "head.csv: no column f, shift",
    "contention.py nofile.swf mesh:4x4": "No such file",
    "contention.py plain.swf.gz mesh:4x4": "plain.swf.gz: Not a gzipped file",
    "contention.py no-jobs.swf mesh:4x4": "no jobs",
    "contention.py log.swf mesh:4x4 --windows 0": "must be at least 1",
    "contention.py log.swf mesh:4x4 --pavior /nonexistent": "/nonexistent: ",
}


@pytest.mark.parametrize("line", REFUSED)
def test_wrong_input_and_nothing_to_tell_are_one_line_and_status_2(line: str, folder: Path) -> None:
    done = subprocess.run(command(line), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"{line.split()[0]}: ") and REFUSED[line] in done.stderr
    assert done.stderr.count("\n") == 1
    # At most the header of a table is printed before a run fails.
    assert done.stdout.count("\n") <= 2


PRINTING = [
    "break_even.py results.csv --moves moves.csv",
    "break_even.py results.csv --scheduler easy-freedom",
    "freedom.py --tables tables.csv",
    "freedom.py --moves moves.csv",
    "contention.py log.swf mesh:4x4 --pavior ./pavior",
    "paired_runs.py placed.jsonl placed.jsonl",
    "placements.py placed.jsonl mesh:4x4",
]


@pytest.mark.parametrize("line", PRINTING)
def test_what_can_be_told_is_told(line: str, folder: Path) -> None:
    done = subprocess.run(command(line), cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") > 2


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="closed pipes have no signal here")
@pytest.mark.parametrize("line", PRINTING)
def test_a_script_ends_without_a_word_where_nobody_reads(line: str, folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(command(line), cwd=folder, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_bricks_are_counted_as_their_proof_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that as many bricks fit as a search finds, and that boxes turn to need the fewest bricks."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import bricks

    mesh, ring = bricks.machine_of("mesh:16x16"), bricks.machine_of("torus:5x5")
    assert mesh.room((9, 9, 1)) == 1 and mesh.room((8, 3, 1)) == 10
    # Five squares fit on a 5x5 torus, although two rows of two make only four.
    assert ring.room((2, 2, 1)) == 5 and bricks.machine_of("grid:5wx5").room((2, 2, 1)) == 4
    assert bricks.fewest((10, 3, 1), mesh, (9, 1, 1)) == 0 and bricks.fewest((10, 9, 1), mesh, (9, 1, 1)) == 9
    # Two 9x9 jobs on 16x16 nodes run one after the other, although they need only 63% of these.
    assert bricks.hours({(9, 9, 1): 7200}, mesh, (9, 9, 1)) == 2
    assert bricks.hours({(9, 9, 1): 7200}, mesh, (1, 1, 1)) < 1
