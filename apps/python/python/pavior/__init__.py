"""Processor allocation, scheduling and wormhole networks on meshes and tori.

A *shape* is one to three sides in nodes, x first; a *node* is its coordinates in the same order. Arrays
of nodes are indexed ``[z, y, x]`` (x fastest). Names with options are those of the command line
(``"tff:scan=yzx"``). Nothing but the standard library is needed.
"""

from pavior._errors import BadName, Broken, PaviorError, Refused
from pavior._native import (
    Allocation,
    Box,
    Explanation,
    Free,
    Judgement,
    Machine,
    Result,
    Table,
    Trace,
    judge,
    simulate,
)
from pavior._strategy import Strategy

__all__ = [
    "Allocation",
    "BadName",
    "Box",
    "Broken",
    "Explanation",
    "Free",
    "Judgement",
    "Machine",
    "PaviorError",
    "Refused",
    "Result",
    "Strategy",
    "Table",
    "Trace",
    "judge",
    "simulate",
]
