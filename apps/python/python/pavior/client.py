"""A client of `pavior serve` that uses only the standard library.

    from pavior.client import Service

    service = Service()  # the Unix socket of a service started in this folder
    with service.lease((2, 3), ttl_s=600) as lease:
        print(lease.nodes, lease.boxes)
    for event in service.watch(after=0, timeout=1):
        print(event["kind"])

The service describes its requests and answers at `GET /openapi.json`. A request that is not carried out
raises a `Problem` that contains the whole problem document (RFC 9457). A request that the strategy
refuses raises a `Refused`, which is also a `pavior.Refused`. If the service cannot be reached,
`OSError` is raised.
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
"""The default address of `pavior serve`, relative to the directory in which it was started."""


class Lease:
    """A lease of nodes. Leaving a `with` block ends it."""

    document: Document
    """The lease, as described by the service."""

    def __init__(self, service: Service, document: Document) -> None:
        self._service = service
        self.document = document

    @property
    def id(self) -> int:
        """The lease's number, which is never reused."""
        return int(self.document["id"])

    @property
    def epoch(self) -> int:
        """The fencing token, which is below 2^53. It increases with each new holder of a node, even
        after a backup is restored."""
        return int(self.document["epoch"])

    @property
    def nodes(self) -> int:
        """The number of nodes, which may exceed the requested number."""
        return int(self.document["nodes"])

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The disjoint boxes, in the order granted."""
        return tuple(Box(part["base"], part["sides"]) for part in self.document["parts"])

    @property
    def machine(self) -> str:
        """The name of the machine."""
        return str(self.document["machine"])

    @property
    def job(self) -> JobName | None:
        """The client's name for the job."""
        job: JobName | None = self.document["job"]
        return job

    @property
    def expires(self) -> str | None:
        """The time when the lease expires (RFC 3339), or None."""
        expires: str | None = self.document["expires"]
        return expires

    def renew(self, ttl_s: float | None = None) -> Self:
        """Extends the lease to `ttl_s` seconds from now (default: its original duration)."""
        body = {"epoch": self.epoch, "ttl_s": ttl_s}
        self.document = self._service._transport.change(f"/v1/leases/{self.id}/renew", body)
        return self

    def end(self) -> None:
        """Releases the nodes. Raises `Problem` (`lease-ended`, `stale-epoch`) if the lease has ended."""
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
    """A request waiting in the queue."""

    document: Document
    """The request, as described by the service."""

    def __init__(self, service: Service, document: Document) -> None:
        self._service = service
        self.document = document

    @property
    def id(self) -> int:
        """The number that the request's lease will have."""
        return int(self.document["id"])

    def lease(self, timeout: float | None = None) -> Lease:
        """Waits for the lease to begin, and returns it. Raises `TimeoutError` after `timeout` seconds.

        Raises `Problem` (`unknown-lease`) if the request was removed from the queue, or if its lease
        has begun and ended in the meantime.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = int(self._service.queue()["seq"])
            found = self._service.get(self.id)
            if isinstance(found, Lease):
                return found
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError(f"request {self.id} is still waiting after {timeout} s")
            with contextlib.closing(self._service.watch(seen, timeout=left)) as events:
                for event in events:
                    told = event.get("lease", event)
                    if event["kind"] in ("granted", "ended") and told["id"] == self.id:
                        break

    def cancel(self) -> None:
        """Removes the request from the queue. Raises `Problem` if it is no longer waiting."""
        body = {"epoch": self.document.get("epoch")}
        self._service._transport.change(f"/v1/leases/{self.id}/end", body)

    def __repr__(self) -> str:
        return f"<Waiting {self.id}, {self.document['requested']} nodes>"


class Service:
    """A service at `unix:PATH`, `http://HOST:PORT` or `https://HOST:PORT`.

    Every request that changes something carries an Idempotency-Key, so it is carried out only once. It
    is repeated for up to `patience` seconds while the service cannot be reached or answers 503. After
    an `outcome-unknown` answer, the request may already have been carried out, so it is repeated with
    the same key until the outcome is known. If `insistence` is given, the problem is raised after that
    many seconds. `timeout` limits the wait for one answer, in seconds. Each request has its own
    connection, so threads can share a `Service`.
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
        """Leases nodes that are free now. Raises `Refused` if the strategy refuses the request.

        Parameters
            shape, nodes: the sides of a box, or a number of nodes
            freedom: the freedom in placing the nodes
            ttl_s: the time after which the lease expires, in seconds
            estimate_s: the run time that schedulers assume, in seconds
            job: the client's name for the job
            machine: the machine, if the service has several
            tenant: the tenant that gets the lease; only the operator may name one
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
        """Requests a lease like `lease`, but waits in the queue if the request cannot start now."""
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
        """Creates a lease on nodes that are already in use (operator)."""
        parts = [{"base": list(box.base), "sides": list(box.sides)} for box in boxes]
        body = _asked(ttl_s=ttl_s, job=job, machine=machine, tenant=tenant) | {"parts": parts}
        return Lease(self, self._transport.change("/v1/hold", body))

    def get(self, id: int) -> Lease | Waiting:
        """Returns a lease or a waiting request, given its number."""
        return self._found(self._transport.ask("GET", f"/v1/leases/{id}"))

    def leases(self, machine: str | None = None) -> list[Lease]:
        """Returns all leases that the caller may see, in order of number."""
        found: list[Lease] = []
        after: int | None = 0
        while after is not None:
            page = self._transport.ask("GET", path_of("/v1/leases", after=after, machine=machine))
            found += [Lease(self, document) for document in page["leases"]]
            after = page["next"]
        return found

    def end(self, id: int, epoch: int | None = None) -> None:
        """Ends a lease, given its number and epoch. A waiting request needs no epoch."""
        self._transport.change(f"/v1/leases/{id}/end", {"epoch": epoch})

    def renew(self, id: int, epoch: int, ttl_s: float | None = None) -> Lease:
        """Extends a lease, given its number and epoch."""
        return Lease(self, self._transport.change(f"/v1/leases/{id}/renew", {"epoch": epoch, "ttl_s": ttl_s}))

    def fail(self, node: Node, machine: str | None = None) -> Document:
        """Marks a node as failed. A lease that holds the node keeps it (operator)."""
        return self._transport.change("/v1/nodes/fail", {"node": _numbers(node), "machine": machine})

    def repair(self, node: Node, machine: str | None = None) -> Document:
        """Makes a failed or drained node available again (operator)."""
        return self._transport.change("/v1/nodes/repair", {"node": _numbers(node), "machine": machine})

    def drain(self, node: Node, machine: str | None = None) -> Document:
        """Marks a node as under maintenance. A lease that holds the node keeps it (operator)."""
        return self._transport.change("/v1/nodes/drain", {"node": _numbers(node), "machine": machine})

    def batch(self, operations: Sequence[Mapping[str, object]]) -> list[Document | Problem]:
        """Carries out many commands, such as `{"end": {"id": 1, "epoch": 2}}`, with one durable write.

        Returns a body or a `Problem` for each command, in order. The batch as a whole is carried out once.
        """
        answers = self._transport.change("/v1/batch", {"operations": list(operations)})["answers"]
        return [
            answer["body"] if answer["status"] < 400 else problem_of(answer["status"], answer["body"])
            for answer in answers
        ]

    def queue(self) -> Document:
        """Returns the waiting requests (`waiting`) as of record `seq`."""
        return self._transport.ask("GET", "/v1/queue")

    def machine(self, name: str | None = None) -> Document:
        """Returns the numbers of free, held, failed and drained nodes, and the largest free box."""
        return self._transport.ask("GET", path_of("/v1/machine", machine=name))

    def machines(self) -> list[Document]:
        """Returns all machines, each as described by `machine`."""
        machines: list[Document] = self._transport.ask("GET", "/v1/machines")["machines"]
        return machines

    def state(
        self, machine: str | None = None, *, at: int | None = None, at_ms: int | None = None
    ) -> Document:
        """Returns the leases, queue and unavailable nodes now, after record `at`, or at time `at_ms`
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
        """Compares where strategies would place a request, and finds the leases in the way. Changes nothing."""
        body = _asked(shape, nodes, freedom, machine=machine) | {"strategies": strategies}
        return self._transport.ask("POST", "/v1/explain", body)

    def slots(
        self, shape: Shape, *, moves: int | None = None, machine: str | None = None
    ) -> Document:
        """Counts how many boxes of a shape fit at the same time, with an upper bound. With `moves`
        (operator only), also counts how many would fit after at most that many leases have moved. Changes nothing."""
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
        """Returns what the result of a request would be if leases had ended, or nodes had failed or been repaired."""
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
        """Plans which leases to move so that a request fits (operator). Changes nothing."""
        body = _asked(shape, nodes, freedom, machine=machine) | {"max_jobs": max_jobs}
        return self._transport.ask("POST", "/v1/unblock", body)

    def confirm_clock(self) -> Document:
        """Confirms that the service's clock is right when it is in doubt, so that leases expire again (operator)."""
        return self._transport.change("/v1/clock/confirm", {})

    def ready(self) -> bool:
        """Returns True if the service can make decisions, that is, if it is neither read-only nor a standby."""
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
        """Yields the records after `after` (or from now on), in order and without gaps.

        Each record has `kind` (`granted`, `queued`, `renewed`, `ended`, `node`, `reserved`,
        `unreserved`, `configured`), `seq` and `at` (RFC 3339). If `timeout` is given, the iteration ends after that many seconds without a
        record. If the connection is lost, the client tries to reconnect for up to `patience` seconds. A
        `Problem` with status 410 means that the records have been removed: start again from `state`.
        """
        last = int(self.queue()["seq"]) if after is None else after
        until = None if timeout is None else time.monotonic() + timeout
        lost: float | None = None
        while until is None or time.monotonic() < until:
            try:
                for last, event in self._transport.records(last, until):
                    lost = None
                    if event is not None:
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
    """Returns the members that requests have in common. As with a `Machine`, an int given as the shape
    is a number of nodes."""
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
    """Parses sides or coordinates from a sequence, an int, or a string such as `4x4`."""
    if isinstance(given, str):
        return [int(part) for part in given.lower().replace(",", "x").split("x")]
    if not isinstance(given, Iterable):
        return [operator.index(given)]
    return [operator.index(number) for number in given]
