"""A resource pool for Flux whose nodes form a torus: every job gets a box of nodes.

Flux's schedulers in Python (`sched-simple`, `sched-fifo`, your own) take a pool class from a module on
PYTHONPATH, beside which `flux_torus_request.py` must lie:

    flux module load sched-fifo pool-class=flux_torus_pool:TorusPool

What the machine is stands in the key `scheduling` of the instance's R; the pool class may stand there,
too, instead of in the arguments of the module:

    {"version": 1, "execution": {...},
     "scheduling": {"writer": "flux_torus_pool:TorusPool",
                    "torus": {"machine": "torus:8x8x8", "strategy": "tff"}}}

Rank r is node r, counted row by row with x fastest, unless `torus` has a list `nodes`: the coordinates
of each rank, in ascending order of ranks. Nodes without a rank are never granted. A job asks for a
box by `--setattr=torus.shape=[4,4,2]`, or for a number of nodes, of which the most compact box that is
free is made. Nodes are granted whole: where the box has more nodes than were asked for, the rest stays
idle until the job ends. The R of a job says which nodes it has, so that an instance started inside
the job sees its own part of the torus.

The pool is a `ResourcePoolImplementation` of flux-core (0.88): parsing, allocation and release, up and
down, feasibility, copies for forecasts, a generation.
"""

from __future__ import annotations

import json
import math
import syslog
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from flux.idset import IDset
from flux.resource.ResourcePoolImplementation import (
    InfeasibleRequest,
    InsufficientResources,
    ResourcePoolImplementation,
)
from flux.resource.Rv1Set import Rv1Set
from flux_torus_request import Counts, Node, Request, nodes_of, numbered, shapes_of

from pavior import Box, Machine

LONGEST = 65_535
"""The longest side of a machine."""

Rank = int


@dataclass
class Held:
    """What a job holds."""

    ranks: frozenset[Rank]
    """The ranks in its R; the machine may hold more nodes for it."""
    end: float
    """Seconds since 1970; 0 for no end."""


class TorusPool(Rv1Set, ResourcePoolImplementation):
    """A pool whose ranks are nodes of a mesh or torus."""

    version = 1
    known_options = frozenset({"machine", "strategy"})

    def __init__(
        self,
        R: str | Mapping[str, Any],
        log: Callable[[int, str], None] | None = None,
        machine: str | None = None,
        strategy: str | None = None,
    ) -> None:
        """`machine` and `strategy` are used where R does not name them."""
        if log is not None:
            self.log = log  # type: ignore[assignment, method-assign]
        document: Mapping[str, Any] = json.loads(R) if isinstance(R, str) else R
        super().__init__(document, keep_scheduling=True)
        # Schedulers look for the implementation behind a wrapper; here there is none.
        self.impl = self
        self._plain = Rv1Set(document)
        scheduling = document.get("scheduling") or {}
        torus: Mapping[str, Any] = scheduling.get("torus") or {}
        name = torus.get("machine") or machine
        if name is None:
            raise ValueError("TorusPool needs R.scheduling.torus.machine, such as torus:8x8x8")
        self._empty = Machine(name, torus.get("strategy") or strategy or "tff")
        self._writer = scheduling.get("writer")
        ranks = sorted(self._plain.ranks())
        sides = self._empty.shape
        if "nodes" in torus:
            nodes = [tuple(int(at) for at in node) for node in torus["nodes"]]
            if len(nodes) != len(ranks):
                raise ValueError(f"{len(nodes)} nodes of the torus for {len(ranks)} ranks")
        else:
            if ranks and ranks[-1] >= math.prod(sides):
                raise ValueError(f"{name} has no node for rank {ranks[-1]}")
            nodes = [numbered(rank, sides) for rank in ranks]
        self._node: dict[Rank, Node] = dict(zip(ranks, nodes, strict=True))
        self._rank: dict[Node, Rank] = {node: rank for rank, node in self._node.items()}
        if len(self._rank) != len(ranks):
            raise ValueError("two ranks stand for one node of the torus")
        for node in product(*map(range, sides)):
            if node not in self._rank:
                self._empty.fail(node)
        self._written: list[list[list[int]]] = list(torus.get("boxes", []))
        sizes = {rank: self._subset([rank]) for rank in ranks}
        self._size = {rank: (own.count("core"), own.count("gpu")) for rank, own in sizes.items()}
        self._machine = self._empty.fork()
        self._down: set[Rank] = set()
        self._gone: set[Rank] = set()
        self._held: dict[int, Held] = {}

    # Up and down

    def mark_up(self, ids: str) -> None:
        """Ranks may be granted."""
        for rank in self._named(ids) & self._down:
            self._machine.repair(self._node[rank])
            self._down.discard(rank)
        self._bump()

    def mark_down(self, ids: str) -> None:
        """Ranks may not be granted; a job that has them keeps them."""
        for rank in self._named(ids) - self._down:
            self._machine.fail(self._node[rank])
            self._down.add(rank)
        self._bump()

    def copy_down(self) -> Rv1Set:
        """The ranks that are down."""
        return self._subset(self._down - self._gone)

    def remove_ranks(self, ranks: IDset | str) -> TorusPool:
        """Ranks leave the pool for good; a job that has them keeps them."""
        gone = self._named(ranks)
        super().remove_ranks(ranks)
        self._plain.remove_ranks(ranks)
        self._gone |= gone
        for rank in gone:
            self._empty.fail(self._node[rank])
        for rank in gone - self._down:
            self._machine.fail(self._node[rank])
        self._down |= gone
        # The boxes of an R from which ranks were taken are no longer what it holds.
        self._written = []
        self.scheduling = self._scheduling_of(self._node.keys() - self._gone, [])
        self._bump()
        return self

    # Jobs

    def parse_resource_request(self, jobspec: Mapping[str, Any]) -> Request:
        """Reads a jobspec; `ValueError` or `KeyError` if it cannot be read."""
        counts = Counts()
        counts.walk(jobspec["resources"], 1)
        if counts.slots is None or counts.cores is None:
            raise ValueError("a jobspec needs slots with cores")
        system = (jobspec.get("attributes") or {}).get("system") or {}
        if counts.nodes is not None:
            least, most = counts.nodes
            # Ranges of slots: each node has at least the least number.
            slots = counts.slots[0]
        else:
            slots = self._slots_of_a_node(counts.cores, counts.gpus)
            least = -(-counts.slots[0] // slots)
            most = None if counts.slots[1] is None else -(-counts.slots[1] // slots)
        shape = self._shape_of(system.get("torus") or {})
        if shape is not None and least > math.prod(shape):
            raise ValueError(f"torus.shape has {math.prod(shape)} nodes, {least} are asked for")
        constraint = system.get("constraints") or None
        if constraint is not None:
            # One that cannot be read is an error now, not when the job is scheduled.
            self._plain.copy_constraint(constraint)
        return Request(
            least=least,
            most=most,
            shape=shape,
            cores=slots * counts.cores,
            gpus=slots * counts.gpus,
            duration=float(system.get("duration") or 0.0),
            constraint=constraint,
            jobspec=jobspec,
        )

    def check_feasibility(self, request: Request) -> None:
        """Raises `InfeasibleRequest` if not even the idle pool with all ranks up could grant it."""
        machine = self._empty.fork()
        self._withdraw(machine, request)
        answer = self._place(machine, request, most=request.least)
        if isinstance(answer, str):
            raise InfeasibleRequest(f"this torus never has the nodes: {answer}")

    def alloc(self, jobid: int, request: Request) -> Rv1Set:
        """Grants a job its nodes, or raises `InsufficientResources` or `InfeasibleRequest`."""
        machine = self._machine
        if self._unfit(request):
            # The strategy must not look at nodes that do not suit this job.
            machine = machine.fork()
            self._withdraw(machine, request)
        answer = self._place(machine, request, most=request.most)
        if isinstance(answer, str):
            self.check_feasibility(request)
            raise InsufficientResources(answer)
        boxes, count = answer
        self._machine.allocate_at(boxes, job=jobid)
        sides = self._empty.shape
        nodes = [node for box in boxes for node in nodes_of(box, sides)]
        ranks = frozenset(self._rank[node] for node in nodes[:count])
        end = time.time() + request.duration if request.duration else self.get_expiration()
        self._held[jobid] = Held(ranks, end)
        self._bump()
        granted = self._subset(ranks)
        granted.scheduling = self._scheduling_of(ranks, boxes)
        granted.set_starttime(0.0)
        granted.set_expiration(0.0)
        self.log(syslog.LOG_DEBUG, f"alloc: {jobid}: {boxes}")
        return granted

    def register_alloc(self, jobid: int, R: Any) -> None:
        """Takes over a job that runs already."""
        given = getattr(R, "impl", R)
        ranks = frozenset(given.ranks())
        missing = sorted(ranks - self._named("all"))
        if missing:
            raise ValueError(f"job {jobid} has ranks that are not in the pool: {missing}")
        boxes = [Box(base, sides) for base, sides in getattr(given, "_written", [])]
        nodes = {node for box in boxes for node in nodes_of(box, self._empty.shape)}
        known = {self._rank[node] for node in nodes if node in self._rank} - self._gone
        if ranks - known or len(known) < len(nodes):
            boxes = [self._single(self._node[rank]) for rank in ranks]
        self._hold(jobid, boxes)
        self._held[jobid] = Held(ranks, given.get_expiration())
        self._bump()

    def free(self, jobid: int, R: Any = None, final: bool = False) -> None:
        """Takes back some ranks of a job, or all; a job that holds nothing is passed over."""
        held = self._held.get(jobid)
        if held is None:
            return
        freed = held.ranks if R is None else frozenset(getattr(R, "impl", R).ranks())
        if freed - held.ranks:
            raise ValueError(f"job {jobid} does not hold ranks {sorted(freed - held.ranks)}")
        if final and freed != held.ranks:
            raise ValueError(f"job {jobid} still holds ranks {sorted(held.ranks - freed)}")
        boxes = self._machine.jobs[jobid].boxes
        self._machine.release(jobid)
        if R is None or final:
            del self._held[jobid]
        else:
            gone = {self._node[rank] for rank in freed}
            nodes = [node for box in boxes for node in nodes_of(box, self._empty.shape)]
            rest = [self._single(node) for node in nodes if node not in gone]
            if rest:
                self._hold(jobid, rest)
            self._held[jobid] = Held(held.ranks - freed, held.end)
        self._bump()

    def update_expiration(self, jobid: int, expiration: float) -> None:
        """A job ends at another time than was said."""
        if jobid in self._held:
            self._held[jobid].end = expiration
            self._bump()

    def job_end_times(self) -> list[tuple[int, float]]:
        """Each job with its end."""
        return [(jobid, held.end) for jobid, held in self._held.items()]

    # Copies

    def copy(self) -> TorusPool:
        """A pool of its own, for forecasts: it does not log."""
        twin = TorusPool(self.to_dict(), None, self._empty.name, self._empty.strategy)
        twin._node, twin._rank, twin._size = dict(self._node), dict(self._rank), dict(self._size)
        twin._empty = self._empty.fork()
        twin._machine = self._machine.fork()
        twin._down, twin._gone = set(self._down), set(self._gone)
        twin._held = {jobid: Held(held.ranks, held.end) for jobid, held in self._held.items()}
        twin.generation = self.generation
        return twin

    def copy_allocated(self) -> Rv1Set:
        """The ranks that jobs hold."""
        return self._subset(rank for held in self._held.values() for rank in held.ranks)

    def to_set(self) -> Rv1Set:
        """All ranks."""
        everything: Rv1Set = self._plain.copy()
        return everything

    # Within

    def _named(self, ids: IDset | str) -> set[Rank]:
        """The ranks of the pool that an idset names."""
        own = self._node.keys() - self._gone
        return own if ids == "all" else own & set(ids if isinstance(ids, IDset) else IDset(ids))

    def _subset(self, ranks: Iterable[Rank]) -> Rv1Set:
        part: Rv1Set = self._plain.copy_ranks(",".join(map(str, sorted(ranks))))
        return part

    def _shape_of(self, torus: object) -> tuple[int, ...] | None:
        """The shape that a jobspec asks for."""
        axes = len(self._empty.shape)
        match torus:
            case {"shape": [*sides]} if len(sides) == axes and all(
                type(side) is int and 1 <= side <= LONGEST for side in sides
            ):
                return tuple(sides)
            case Mapping() if "shape" not in torus:
                return None
        raise ValueError(f"torus.shape is a list of {axes} sides of 1 to {LONGEST} nodes")

    def _single(self, node: Node) -> Box:
        return Box(node, [1] * len(node))

    def _hold(self, jobid: int, boxes: list[Box]) -> None:
        """Gives nodes to a job, also those that are down."""
        sides = self._empty.shape
        down = {self._node[rank] for rank in self._down}
        inside = [node for box in boxes for node in nodes_of(box, sides) if node in down]
        for node in inside:
            self._machine.repair(node)
        try:
            self._machine.allocate_at(boxes, job=jobid)
        finally:
            for node in inside:
                self._machine.fail(node)

    def _slots_of_a_node(self, cores: int, gpus: int) -> int:
        """How many slots there is room for on every node that has room for one."""
        rooms = [
            min(own // asked for own, asked in zip(size, (cores, gpus), strict=True) if asked)
            for rank, size in self._size.items()
            if rank not in self._gone
        ]
        fit = [room for room in rooms if room]
        if not fit:
            raise ValueError("no node has the cores and GPUs of a slot")
        return min(fit)

    def _unfit(self, request: Request) -> set[Rank]:
        """The ranks that do not suit a request, whatever their state."""
        own = self._named("all")
        fit = own
        if request.constraint is not None:
            fit = own & set(self._plain.copy_constraint(request.constraint).ranks())
        least = (request.cores, request.gpus)
        return own - {rank for rank in fit if all(map(int.__ge__, self._size[rank], least))}

    def _withdraw(self, machine: Machine, request: Request) -> None:
        """Takes the nodes that do not suit a request out of a machine."""
        for rank in self._unfit(request):
            machine.fail(self._node[rank])

    def _place(
        self, machine: Machine, request: Request, most: int | None
    ) -> tuple[tuple[Box, ...], int] | str:
        """Boxes for as many nodes as can be had, and how many nodes the job gets of them; or why not."""
        if request.shape is not None:
            answer = machine.probe(request.shape)
            volume = math.prod(request.shape)
            count = volume if request.most is None else min(request.most, volume)
            return answer if isinstance(answer, str) else (answer, count)
        reason: str = "too-few-free-nodes"
        free = machine.free if most is None else min(most, machine.free)
        for count in range(free, request.least - 1, -1):
            # Strategies that grant several blocks take the number; others make the most compact box of it.
            answer = machine.probe(nodes=count)
            if not isinstance(answer, str):
                return answer, count
            reason = answer
            for shape in shapes_of(count, machine.shape):
                answer = machine.probe(shape)
                if not isinstance(answer, str):
                    return answer, count
                reason = answer
        return reason

    def _scheduling_of(self, ranks: Iterable[Rank], boxes: Iterable[Box]) -> dict[str, Any]:
        """The key `scheduling` of an R with these ranks."""
        torus: dict[str, Any] = {
            "machine": self._empty.name,
            "strategy": self._empty.strategy,
            "nodes": [list(self._node[rank]) for rank in sorted(ranks)],
        }
        written = [[list(box.base), list(box.sides)] for box in boxes]
        if written:
            torus["boxes"] = written
        return {"torus": torus} if self._writer is None else {"writer": self._writer, "torus": torus}


pool_class = TorusPool
"""What Flux takes from a module that is named without a class."""
