"""Processor allocation, scheduling and wormhole networks on meshes and tori.

A *shape* is one to three sides in nodes, x first, and a *node* is given by its coordinates in the same
order. Arrays of nodes are indexed ``[z, y, x]`` (x fastest). Names with options are written as on the
command line (``"tff:scan=yzx"``). Only the standard library is required.
"""

from pavior._errors import BadName, Broken, PaviorError, Refused
from pavior._native import (
    Allocation,
    Box,
    Cancel,
    Explanation,
    Forecasts,
    Free,
    Job,
    Journal,
    Judgement,
    Machine,
    MachineView,
    Progress,
    Queue,
    Result,
    Running,
    Slots,
    Span,
    Specification,
    Table,
    Trace,
    forecast,
    judge,
    simulate,
)
from pavior._scheduler import Priority, Scheduler
from pavior._strategy import Strategy

# Sweeps need standard-library modules that take longer to import than everything else, so they are
# imported only when the first experiment is created. One of them is `typing`, so this name stands in
# for its constant.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pavior._experiment import Experiment, Results

    __version__: str
else:

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version("pavior")
        if name not in ("Experiment", "Results"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pavior import _experiment

        return getattr(_experiment, name)

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "Allocation",
    "BadName",
    "Box",
    "Broken",
    "Cancel",
    "Experiment",
    "Explanation",
    "Forecasts",
    "Free",
    "Job",
    "Journal",
    "Judgement",
    "Machine",
    "MachineView",
    "PaviorError",
    "Priority",
    "Progress",
    "Queue",
    "Refused",
    "Result",
    "Results",
    "Running",
    "Scheduler",
    "Slots",
    "Span",
    "Specification",
    "Strategy",
    "Table",
    "Trace",
    "forecast",
    "judge",
    "simulate",
]
