"""A client of `pavior serve`, with nothing but the standard library.

    from pavior_service import Service

    service = Service("http://127.0.0.1:8080")
    with service.lease(shape=[2, 3], ttl_s=600) as lease:
        print(lease.nodes, lease.parts)
    for event in service.watch(after=0):
        print(event["kind"])
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
import uuid
from dataclasses import dataclass
from typing import Any, Iterator, Sequence
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Lease", "Problem", "Refused", "Service"]


class Problem(Exception):
    """The service did not carry a request out. `reason` is a word, `body` the whole problem."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body.get("detail") or body.get("title") or f"status {status}")
        self.status = status
        self.body = body
        self.reason: str | None = body.get("reason")


class Refused(Problem):
    """The strategy refused a request; `diagnosis` says what stands in the way."""

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        return self.body.get("diagnosis")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@dataclass
class Lease:
    """Nodes that are held. Leaving a `with` block ends the lease."""

    service: Service
    body: dict[str, Any]

    @property
    def id(self) -> int:
        return self.body["id"]

    @property
    def epoch(self) -> int:
        """The fencing token: it grows from holder to holder of a node."""
        return self.body["epoch"]

    @property
    def nodes(self) -> int:
        return self.body["nodes"]

    @property
    def parts(self) -> list[dict[str, list[int]]]:
        return self.body["parts"]

    def renew(self, ttl_s: float | None = None) -> Lease:
        """Prolongs the lease from now, by the time it was granted with unless given."""
        self.body = self.service._change(
            f"/v1/leases/{self.id}/renew", {"epoch": self.epoch, "ttl_s": ttl_s}
        )
        return self

    def end(self) -> None:
        self.service._change(f"/v1/leases/{self.id}/end", {"epoch": self.epoch})

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.end()
        except Problem as problem:
            if problem.reason != "lease-ended":
                raise


class Service:
    """A service at `http://HOST:PORT`, `https://HOST:PORT` or `unix:PATH`.

    Requests that change something carry an Idempotency-Key and are sent again for `patience` seconds
    while the service cannot be reached or answers 503: they are carried out once.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 10.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._address = address
        self._token = token
        self._timeout = timeout
        self._patience = patience
        self._context = context

    def lease(
        self,
        *,
        shape: Sequence[int] | None = None,
        nodes: int | None = None,
        ttl_s: float | None = None,
        tenant: str | None = None,
        machine: str | None = None,
        job: int | str | None = None,
    ) -> Lease:
        """Asks for nodes; raises `Refused` with a diagnosis if they cannot be had now."""
        body = {
            "shape": list(shape) if shape is not None else None,
            "nodes": nodes,
            "ttl_s": ttl_s,
            "tenant": tenant,
            "machine": machine,
            "job": job,
        }
        return Lease(self, self._change("/v1/leases", body))

    def leases(self) -> list[Lease]:
        """All leases that the caller may see."""
        found: list[Lease] = []
        after: int | None = 0
        while after is not None:
            page = self._ask("GET", f"/v1/leases?{urlencode({'after': after})}")
            found += [Lease(self, body) for body in page["leases"]]
            after = page["next"]
        return found

    def machine(self, name: str | None = None) -> dict[str, Any]:
        return self._ask("GET", "/v1/machine" + (f"?machine={quote(name)}" if name else ""))

    def explain(self, **asked: Any) -> dict[str, Any]:
        return self._ask("POST", "/v1/explain", asked)

    def what_if(self, **asked: Any) -> dict[str, Any]:
        return self._ask("POST", "/v1/what-if", asked)

    def unblock(self, **asked: Any) -> dict[str, Any]:
        return self._ask("POST", "/v1/unblock", asked)

    def fail(self, node: Sequence[int]) -> dict[str, Any]:
        return self._change("/v1/nodes/fail", {"node": list(node)})

    def repair(self, node: Sequence[int]) -> dict[str, Any]:
        return self._change("/v1/nodes/repair", {"node": list(node)})

    def drain(self, node: Sequence[int]) -> dict[str, Any]:
        return self._change("/v1/nodes/drain", {"node": list(node)})

    def watch(self, after: int | None = None) -> Iterator[dict[str, Any]]:
        """Events from a record on, without an end; a `Problem` of status 410 if they are gone."""
        path = "/v1/watch" + (f"?after={after}" if after is not None else "")
        connection = self._connect(timeout=None)
        try:
            connection.request("GET", path, headers=self._headers())
            reply = connection.getresponse()
            if reply.status != 200:
                raise _problem(reply.status, reply.read())
            for line in reply:
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: ") :])
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _connect(self, timeout: float | None) -> http.client.HTTPConnection:
        if self._address.startswith("unix:"):
            return _UnixConnection(self._address[len("unix:") :], timeout)
        parts = urlsplit(self._address)
        host = parts.hostname or "127.0.0.1"
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                host, parts.port, timeout=timeout, context=self._context
            )
        return http.client.HTTPConnection(host, parts.port, timeout=timeout)

    def _change(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        key = str(uuid.uuid4())
        until = time.monotonic() + self._patience
        while True:
            try:
                return self._ask("POST", path, body, key)
            except (OSError, http.client.HTTPException):
                if time.monotonic() > until:
                    raise
            except Problem as problem:
                if problem.status != 503 or time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def _ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str | None = None
    ) -> dict[str, Any]:
        headers = self._headers()
        text = None
        if body is not None:
            given = {name: value for name, value in body.items() if value is not None}
            text = json.dumps(given).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        connection = self._connect(self._timeout)
        try:
            connection.request(method, path, body=text, headers=headers)
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        if reply.status >= 400:
            raise _problem(reply.status, data)
        return json.loads(data)


def _problem(status: int, data: bytes) -> Problem:
    try:
        body = json.loads(data)
    except ValueError:
        body = {"detail": data.decode(errors="replace")}
    return Refused(status, body) if "diagnosis" in body else Problem(status, body)
