"""A client of `pavior serve`, with nothing but the standard library.

    from pavior.client import Service

    service = Service()  # at the Unix socket of a service that was started here
    with service.lease((2, 3), ttl_s=600) as lease:
        print(lease.nodes, lease.boxes)
    for event in service.watch(after=0, timeout=1):
        print(event["kind"])

What a request asks for and what its answer holds is described by the service itself, at
`GET /openapi.json`. Whatever the service does not carry out is a `Problem`, with the whole problem
document (RFC 9457); a refused request is a `Refused`, which is also a `pavior.Refused`. Where the
service cannot be reached, `OSError` is raised.
"""

from __future__ import annotations

import contextlib
import http.client
import operator
import ssl
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Self

from pavior._native import Box
from pavior._transport import PAUSE_S, Document, Problem, Refused, Transport, path_of, problem_of
from pavior._types import Freedom, JobName, Node, Shape

__all__ = ["DEFAULT", "Document", "Lease", "Problem", "Refused", "Service", "Waiting"]

DEFAULT = "unix:pavior-data/pavior.sock"
"""`unix:pavior-data/pavior.sock`: where `pavior serve` listens without options, seen from the folder that
it was started in."""



class Lease:
    """Nodes that are held. Leaving a `with` block ends the lease."""

    document: Document
    """The lease as the service describes it."""

    def __init__(self, service: Service, document: Document) -> None:
        self._service = service
        self.document = document

    @property
    def id(self) -> int:
        """Its number, which no other lease ever bears."""
        return int(self.document["id"])

    @property
    def epoch(self) -> int:
        """The fencing token: below 2^53, and it grows from holder to holder of a node, also over the
        restoring of a backup."""
        return int(self.document["epoch"])

    @property
    def nodes(self) -> int:
        """The nodes held, which may exceed those asked for."""
        return int(self.document["nodes"])

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes, disjoint, in the order of grant."""
        return tuple(Box(part["base"], part["sides"]) for part in self.document["parts"])

    @property
    def machine(self) -> str:
        """The name of the machine."""
        return str(self.document["machine"])

    @property
    def job(self) -> JobName | None:
        """What the client calls the job."""
        job: JobName | None = self.document["job"]
        return job

    @property
    def expires(self) -> str | None:
        """When it ends by itself (RFC 3339), or None."""
        expires: str | None = self.document["expires"]
        return expires

    def renew(self, ttl_s: float | None = None) -> Self:
        """Prolongs it from now, by the seconds it was granted with unless given."""
        body = {"epoch": self.epoch, "ttl_s": ttl_s}
        self.document = self._service._transport.change(f"/v1/leases/{self.id}/renew", body)
        return self

    def end(self) -> None:
        """Gives the nodes back; a `Problem` (`lease-ended`, `stale-epoch`) if it is held no more."""
        self._service._transport.change(f"/v1/leases/{self.id}/end", {"epoch": self.epoch})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        try:
            self.end()
        except Problem as problem:
            if problem.reason != "lease-ended":
                raise

    def __repr__(self) -> str:
        return f"<Lease {self.id}, epoch {self.epoch}, {self.nodes} nodes>"


class Waiting:
    """A request that waits in the queue."""

    document: Document
    """The request as the service describes it."""

    def __init__(self, service: Service, document: Document) -> None:
        self._service = service
        self.document = document

    @property
    def id(self) -> int:
        """The number that its lease will bear."""
        return int(self.document["id"])

    def lease(self, timeout: float | None = None) -> Lease:
        """The lease, once it begins; `TimeoutError` after so many seconds.

        A `Problem` (`unknown-lease`) if the request was taken out of the queue, or if its lease has
        begun and ended meanwhile.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = int(self._service.queue()["seq"])
            found = self._service.get(self.id)
            if isinstance(found, Lease):
                return found
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError(f"request {self.id} still waits after {timeout} s")
            with contextlib.closing(self._service.watch(seen, timeout=left)) as events:
                for event in events:
                    told = event.get("lease", event)
                    if event["kind"] in ("granted", "ended") and told["id"] == self.id:
                        break

    def cancel(self) -> None:
        """Takes it out of the queue; a `Problem` if it does not wait any more."""
        body = {"epoch": self.document.get("epoch")}
        self._service._transport.change(f"/v1/leases/{self.id}/end", body)

    def __repr__(self) -> str:
        return f"<Waiting {self.id}, {self.document['requested']} nodes>"


class Service:
    """A service at `unix:PATH`, `http://HOST:PORT` or `https://HOST:PORT`.

    Requests that change something carry an Idempotency-Key and are sent again for `patience` seconds
    while the service cannot be reached or answers 503: they are carried out once. Where it answers
    `outcome-unknown`, the request may have been carried out: it is sent again with its key until that
    is known, for `insistence` seconds if given, and then the problem is raised. `timeout` is for one
    answer. Each request has a connection of its own, so that threads may share a service.
    """

    def __init__(
        self,
        address: str = DEFAULT,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 10.0,
        context: ssl.SSLContext | None = None,
        insistence: float | None = None,
    ) -> None:
        self.address = address
        self._transport = Transport(address, token, timeout, patience, context, insistence)

    def lease(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
        ttl_s: float | None = None,
        estimate_s: float | None = None,
        job: JobName | None = None,
        machine: str | None = None,
        tenant: str | None = None,
    ) -> Lease:
        """Takes nodes that are free now, or raises `Refused`.

        `shape` or `nodes` says how many, `freedom` how free they are to be placed. The lease ends by
        itself after `ttl_s` seconds; `estimate_s` is what schedulers plan with. Only the operator may
        name another `tenant` than itself.
        """
        asked = (shape, nodes, freedom, ttl_s, estimate_s, job, machine, tenant)
        return Lease(self, self._transport.change("/v1/leases", _asked(*asked)))

    def ask(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
        ttl_s: float | None = None,
        estimate_s: float | None = None,
        job: JobName | None = None,
        machine: str | None = None,
        tenant: str | None = None,
    ) -> Lease | Waiting:
        """As `lease`, but a request that cannot start now waits in the queue of the scheduler."""
        asked = (shape, nodes, freedom, ttl_s, estimate_s, job, machine, tenant)
        return self._found(self._transport.change("/v1/leases", _asked(*asked) | {"wait": True}))

    def hold(
        self,
        boxes: Iterable[Box],
        *,
        ttl_s: float | None = None,
        job: JobName | None = None,
        machine: str | None = None,
        tenant: str | None = None,
    ) -> Lease:
        """Takes over nodes that are in use already (operator)."""
        parts = [{"base": list(box.base), "sides": list(box.sides)} for box in boxes]
        body = _asked(ttl_s=ttl_s, job=job, machine=machine, tenant=tenant) | {"parts": parts}
        return Lease(self, self._transport.change("/v1/hold", body))

    def get(self, id: int) -> Lease | Waiting:
        """A lease or a request that waits, by its number."""
        return self._found(self._transport.ask("GET", f"/v1/leases/{id}"))

    def leases(self, machine: str | None = None) -> list[Lease]:
        """All leases that the caller may see, by number."""
        found: list[Lease] = []
        after: int | None = 0
        while after is not None:
            page = self._transport.ask("GET", path_of("/v1/leases", after=after, machine=machine))
            found += [Lease(self, document) for document in page["leases"]]
            after = page["next"]
        return found

    def end(self, id: int, epoch: int | None = None) -> None:
        """Ends a lease by number and epoch; a request that waits can do without."""
        self._transport.change(f"/v1/leases/{id}/end", {"epoch": epoch})

    def renew(self, id: int, epoch: int, ttl_s: float | None = None) -> Lease:
        """Prolongs a lease by number and epoch."""
        return Lease(self, self._transport.change(f"/v1/leases/{id}/renew", {"epoch": epoch, "ttl_s": ttl_s}))

    def fail(self, node: Node, machine: str | None = None) -> Document:
        """Marks a node as failed; a lease that holds it keeps it (operator)."""
        return self._transport.change("/v1/nodes/fail", {"node": _numbers(node), "machine": machine})

    def repair(self, node: Node, machine: str | None = None) -> Document:
        """Makes a node available again, whether it had failed or was drained (operator)."""
        return self._transport.change("/v1/nodes/repair", {"node": _numbers(node), "machine": machine})

    def drain(self, node: Node, machine: str | None = None) -> Document:
        """As `fail`, under the name of maintenance (operator)."""
        return self._transport.change("/v1/nodes/drain", {"node": _numbers(node), "machine": machine})

    def batch(self, operations: Sequence[Mapping[str, object]]) -> list[Document | Problem]:
        """Carries out many commands by one durable write, such as `{"end": {"id": 1, "epoch": 2}}`.

        A body or a `Problem` for each, in order. The batch is carried out once as a whole.
        """
        answers = self._transport.change("/v1/batch", {"operations": list(operations)})["answers"]
        return [
            answer["body"] if answer["status"] < 400 else problem_of(answer["status"], answer["body"])
            for answer in answers
        ]

    def queue(self) -> Document:
        """The requests that wait (`waiting`), after the record `seq`."""
        return self._transport.ask("GET", "/v1/queue")

    def machine(self, name: str | None = None) -> Document:
        """How many nodes are free, held, failed and drained, and the largest free box."""
        return self._transport.ask("GET", path_of("/v1/machine", machine=name))

    def machines(self) -> list[Document]:
        """All machines, each as `machine` describes it."""
        machines: list[Document] = self._transport.ask("GET", "/v1/machines")["machines"]
        return machines

    def state(
        self, machine: str | None = None, *, at: int | None = None, at_ms: int | None = None
    ) -> Document:
        """Leases, queue and nodes that are not healthy: now, after record `at`, or at an instant
        (milliseconds since 1970)."""
        return self._transport.ask("GET", path_of("/v1/state", machine=machine, at=at, at_ms=at_ms))

    def explain(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
        strategies: Sequence[str] | None = None,
        machine: str | None = None,
    ) -> Document:
        """What strategies would do with a request, and what stands in its way. Changes nothing."""
        body = _asked(shape, nodes, freedom, machine=machine) | {"strategies": strategies}
        return self._transport.ask("POST", "/v1/explain", body)

    def slots(
        self, shape: Shape, *, moves: int | None = None, machine: str | None = None
    ) -> Document:
        """How many boxes of a shape can be placed side by side, with a bound; and how many once at
        most `moves` leases have moved, which only the operator may ask. Changes nothing."""
        sides = "x".join(str(side) for side in _numbers(shape))
        path = path_of("/v1/slots", shape=sides, moves=moves, machine=machine)
        return self._transport.ask("GET", path)

    def what_if(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
        strategy: str | None = None,
        end: Sequence[int] = (),
        fail: Sequence[Node] = (),
        repair: Sequence[Node] = (),
        machine: str | None = None,
    ) -> Document:
        """What would be done if leases had ended and nodes were otherwise. Changes nothing."""
        body = _asked(shape, nodes, freedom, machine=machine) | {"strategy": strategy, "end": list(end)}
        nodes_otherwise = {"fail": [_numbers(n) for n in fail], "repair": [_numbers(n) for n in repair]}
        return self._transport.ask("POST", "/v1/what-if", body | nodes_otherwise)

    def unblock(
        self,
        shape: Shape | None = None,
        *,
        nodes: int | None = None,
        freedom: Freedom | None = None,
        max_jobs: int | None = None,
        machine: str | None = None,
    ) -> Document:
        """Which leases to move so that a request fits (operator). Changes nothing."""
        body = _asked(shape, nodes, freedom, machine=machine) | {"max_jobs": max_jobs}
        return self._transport.ask("POST", "/v1/unblock", body)

    def confirm_clock(self) -> Document:
        """Believes the service's clock where it is in doubt: leases end by time again (operator)."""
        return self._transport.change("/v1/clock/confirm", {})

    def ready(self) -> bool:
        """Whether the service decides: it is not read-only, and stands by for no other."""
        try:
            self._transport.ask("GET", "/readyz")
        except Problem as problem:
            if problem.status != 503:
                raise
            return False
        return True

    def watch(
        self, after: int | None = None, *, timeout: float | None = None
    ) -> Generator[Document, None, None]:
        """The records from `after` (or from now) on, in order and without gaps.

        Each has `kind` (`granted`, `queued`, `renewed`, `ended`, `node`, `configured`), `seq` and
        `at` (RFC 3339). It ends after `timeout` seconds without a record, if given; a connection that is lost
        is made again for as long as the patience lasts. A `Problem` of status 410 says that the
        records are no longer kept: begin anew from `state`.
        """
        last = int(self.queue()["seq"]) if after is None else after
        until = None if timeout is None else time.monotonic() + timeout
        lost: float | None = None
        while until is None or time.monotonic() < until:
            try:
                for event in self._transport.records(last, until):
                    last, lost = int(event["seq"]), None
                    yield event
                    until = None if timeout is None else time.monotonic() + timeout
            except (OSError, http.client.HTTPException, Problem) as error:
                if isinstance(error, Problem) and error.status != 503:
                    raise
                lost = lost or time.monotonic()
                if time.monotonic() > lost + self._transport.patience:
                    raise
            time.sleep(PAUSE_S)

    def _found(self, document: Document) -> Lease | Waiting:
        return (Waiting if document["state"] == "waiting" else Lease)(self, document)

    def __repr__(self) -> str:
        return f"<Service at {self.address}>"


def _asked(
    shape: Shape | None = None,
    nodes: int | None = None,
    freedom: Freedom | None = None,
    ttl_s: float | None = None,
    estimate_s: float | None = None,
    job: JobName | None = None,
    machine: str | None = None,
    tenant: str | None = None,
) -> Document:
    """The members that requests share; those that are None are left out when they are sent. An int in the
    place of a shape is a number of nodes, as for a `Machine`."""
    if nodes is None and shape is not None and not isinstance(shape, Iterable):
        nodes, shape = operator.index(shape), None
    return {
        "shape": None if shape is None else _numbers(shape),
        "nodes": nodes,
        "freedom": freedom,
        "ttl_s": ttl_s,
        "estimate_s": estimate_s,
        "job": job,
        "machine": machine,
        "tenant": tenant,
    }


def _numbers(given: Shape | Node) -> list[int]:
    """The sides or coordinates that a caller gives: a sequence, an int, or a text such as `4x4`."""
    if isinstance(given, str):
        return [int(part) for part in given.lower().replace(",", "x").split("x")]
    if not isinstance(given, Iterable):
        return [operator.index(given)]
    return [operator.index(number) for number in given]
