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
    Desk,
    Explanation,
    Free,
    Job,
    Journal,
    Judgement,
    Machine,
    Progress,
    Queue,
    Result,
    Running,
    Span,
    Specification,
    Table,
    Trace,
    judge,
    simulate,
)
from pavior._scheduler import Priority, Scheduler
from pavior._strategy import Strategy

__all__ = [
    "Allocation",
    "BadName",
    "Box",
    "Broken",
    "Cancel",
    "Desk",
    "Experiment",
    "Explanation",
    "Free",
    "Job",
    "Journal",
    "Judgement",
    "Machine",
    "PaviorError",
    "Priority",
    "Progress",
    "Queue",
    "Refused",
    "Result",
    "Results",
    "Running",
    "Scheduler",
    "Span",
    "Specification",
    "Strategy",
    "Table",
    "Trace",
    "judge",
    "simulate",
]
