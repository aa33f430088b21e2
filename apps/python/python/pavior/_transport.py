"""Requests to a service: connections, retries, and problem documents."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import time
import uuid
from collections.abc import Generator
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pavior import _errors

Document = dict[str, Any]
"""A JSON object from the service."""

_PERMANENT = {"empty-request", "larger-than-machine", "unsupported-shape"}
_REFUSALS = _PERMANENT | {"too-few-free-nodes", "no-free-submesh"}
PAUSE_S = 0.1
"""The pause between two attempts, in seconds."""
SILENCE_S = 60.0
"""The time without any data, in seconds, after which a watched connection counts as lost. The service
sends something every 15 seconds."""
UNKNOWN = "outcome-unknown"
"""The reason in the answer to a request that may or may not have been carried out."""


class Problem(_errors.PaviorError):
    """Raised if the service does not carry out a request."""

    status: int
    """The HTTP status."""
    reason: str
    """A machine-readable reason, such as `stale-epoch`; empty if the answer is not a problem document."""
    document: Document
    """The problem document, unchanged."""

    def __init__(self, status: int, document: Document) -> None:
        detail = document.get("detail") or document.get("title") or f"status {status}"
        Exception.__init__(self, str(detail))
        self.status = status
        self.reason = str(document.get("reason", ""))
        self.document = document

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.status, self.document))


class Refused(Problem, _errors.Refused):
    """Raised if the strategy refuses a request."""

    diagnosis: Document | None
    """The nearest free box, the largest free box, and the place blocked by the fewest leases; None in
    answers to batches."""

    def __init__(self, status: int, document: Document) -> None:
        super().__init__(status, document)
        self.meaning = str(document.get("title", ""))
        self.permanent = self.reason in _PERMANENT
        self.diagnosis = document.get("diagnosis")


class _UnixConnection(http.client.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Transport:
    """Requests to one service, each on its own connection."""

    def __init__(
        self,
        address: str,
        token: str | None,
        timeout: float,
        patience: float,
        context: ssl.SSLContext | None,
        insistence: float | None = None,
    ) -> None:
        if not address.startswith(("unix:", "http://", "https://")):
            raise ValueError(f"{address!r} is not one of unix:PATH, http://HOST:PORT, https://HOST:PORT")
        self.address = address
        self.patience = patience
        self.insistence = insistence
        self._token = token
        self._timeout = timeout
        self._context = context

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _connect(self) -> http.client.HTTPConnection:
        if self.address.startswith("unix:"):
            return _UnixConnection(self.address[len("unix:") :], self._timeout)
        parts = urlsplit(self.address)
        host = parts.hostname or "127.0.0.1"
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                host, parts.port, timeout=self._timeout, context=self._context
            )
        return http.client.HTTPConnection(host, parts.port, timeout=self._timeout)

    def change(self, path: str, body: Document) -> Document:
        """Sends a change, and repeats it until there is an answer. Its key prevents duplicates.

        If an answer says that the outcome is unknown, the request is repeated until the outcome is known.
        """
        key = str(uuid.uuid4())
        until: float | None = time.monotonic() + self.patience
        unknown: Problem | None = None
        while True:
            try:
                return self.ask("POST", path, body, key)
            except (OSError, http.client.HTTPException) as error:
                if until is not None and time.monotonic() > until:
                    raise unknown or error from error
            except Problem as problem:
                if problem.status != 503:
                    raise
                if problem.reason == UNKNOWN and unknown is None:
                    unknown = problem
                    until = None if self.insistence is None else time.monotonic() + self.insistence
                if until is not None and time.monotonic() > until:
                    raise unknown or problem from problem
            time.sleep(PAUSE_S)

    def ask(
        self, method: str, path: str, body: Document | None = None, key: str | None = None
    ) -> Document:
        headers = self._headers()
        text = None
        if body is not None:
            given = {name: value for name, value in body.items() if value is not None}
            text = json.dumps(given).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        with contextlib.closing(self._connect()) as connection:
            connection.request(method, path, body=text, headers=headers)
            reply = connection.getresponse()
            data = reply.read()
        if reply.status >= 400:
            raise problem_of(reply.status, data)
        document: Document = json.loads(data)
        return document

    def records(
        self, after: int, until: float | None
    ) -> Generator[tuple[int, Document | None], None, None]:
        """Yields records with their numbers from one connection, until it is lost or a deadline passes.

        A number without a record means that all records up to this number have been sent.
        """
        connection = self._connect()
        try:
            connection.request("GET", path_of("/v1/watch", after=after), headers=self._headers())
            # The reply may take over the connection's socket.
            channel = connection.sock
            reply = connection.getresponse()
            if reply.status != 200:
                raise problem_of(reply.status, reply.read())
            seen, event = after, None
            while True:
                left = SILENCE_S if until is None else min(SILENCE_S, until - time.monotonic())
                if left <= 0:
                    return
                channel.settimeout(left)
                try:
                    line = reply.readline()
                except TimeoutError:
                    return
                if not line:
                    return
                if line.startswith(b"id: "):
                    seen = int(line[len(b"id: ") :])
                elif line.startswith(b"data: "):
                    event = json.loads(line[len(b"data: ") :])
                elif not line.strip():
                    yield seen, event
                    event = None
        finally:
            connection.close()


def path_of(path: str, **query: object) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given, quote_via=quote)}" if given else path


def problem_of(status: int, data: bytes | Document) -> Problem:
    """Returns the exception for a problem document or a malformed answer."""
    document: object = data
    if isinstance(data, bytes):
        try:
            document = json.loads(data)
        except ValueError:
            document = {"detail": data.decode(errors="replace")}
    if not isinstance(document, dict):
        document = {"detail": str(document)}
    return (Refused if document.get("reason") in _REFUSALS else Problem)(status, document)
