"""Processor allocation, scheduling and wormhole networks on meshes and tori.

A *shape* is one to three sides in nodes, x first; a *node* is its coordinates in the same order. Arrays
of nodes are indexed ``[z, y, x]`` (x fastest). Names with options are those of the command line
(``"tff:scan=yzx"``). Nothing but the standard library is needed.
"""

from pavior._errors import BadName, Broken, PaviorError, Refused
from pavior._experiment import Experiment, Results
from pavior._native import (
    Allocation,
    Box,
    Cancel,
    Explanation,
    Free,
    Journal,
    Judgement,
    Machine,
    Progress,
    Result,
    Span,
    Specification,
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
    "Cancel",
    "Experiment",
    "Explanation",
    "Free",
    "Journal",
    "Judgement",
    "Machine",
    "PaviorError",
    "Progress",
    "Refused",
    "Result",
    "Results",
    "Span",
    "Specification",
    "Strategy",
    "Table",
    "Trace",
    "judge",
    "simulate",
]
