"""Tests the client of `pavior serve` against the service itself."""

from __future__ import annotations

import http.server
import json
import pickle
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

import pavior
from pavior import Box
from pavior.client import DEFAULT, Lease, Problem, Refused, Service, Waiting
from test_experiment import program


class Server:
    """A service in its own folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.start()

    def start(self) -> None:
        call = [program(), "serve", *self.options]
        self.process = subprocess.Popen(
            call, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        told = self.process.stdout.readline().strip()
        scheme, _, path = told.partition(":")
        self.address = f"unix:{self.folder / path}" if scheme == "unix" else told

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(how)
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, "--machine", "mesh:8x8", "--scheduler", "fcfs")
    yield server
    server.end()


def test_the_default_is_the_socket_of_a_service_started_here(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(server.folder)
    service = Service()
    assert service.address == DEFAULT and service.ready()
    assert service.machine()["machine"] == "mesh:8x8" and len(service.machines()) == 1
    with pytest.raises(OSError):
        Service("unix:nowhere", patience=0).lease((1, 1))
    with pytest.raises(ValueError, match="not one of unix"):
        Service("127.0.0.1:8080")


def test_a_lease_from_its_beginning_to_its_end(server: Server) -> None:
    service = Service(server.address)
    with service.lease((2, 3), ttl_s=60, job="first") as lease:
        assert lease.boxes == (Box((0, 0), (2, 3)),) and lease.nodes == 6
        assert (lease.job, lease.machine, lease.id) == ("first", "default", 1)
        until = lease.expires
        assert until is not None and lease.renew(3600).expires != until
        assert service.renew(lease.id, lease.epoch).id == lease.id
        assert [one.id for one in service.leases()] == [1]
        again = service.get(1)
        assert isinstance(again, Lease) and again.epoch == lease.epoch
    with pytest.raises(Problem) as ended:
        lease.end()
    assert (ended.value.status, ended.value.reason) == (409, "lease-ended")
    held = service.lease(nodes=4)
    with pytest.raises(Problem) as stale:
        service.end(held.id, held.epoch + 1)
    assert stale.value.reason == "stale-epoch"
    assert stale.value.document["type"] == "urn:pavior:problem:stale-epoch"
    # Leaving a block is not an error if the lease has already ended.
    with held:
        service.end(held.id, held.epoch)


def test_a_refusal_is_an_exception_with_the_whole_problem(server: Server) -> None:
    service = Service(server.address)
    service.lease((8, 7))
    with pytest.raises(pavior.Refused) as refused:
        service.lease((2, 2))
    problem = refused.value
    assert isinstance(problem, Refused) and problem.status == 409
    assert problem.reason == "no-free-submesh" and not problem.permanent
    assert problem.diagnosis is not None and problem.diagnosis["nearest"] is not None
    twin = pickle.loads(pickle.dumps(problem))
    assert twin.document == problem.document and str(twin) == str(problem)
    with pytest.raises(Refused) as never:
        service.lease((9, 1))
    assert never.value.permanent
    with pytest.raises(Problem, match="positive integers") as bad:
        service.lease((1, 0))
    assert bad.value.reason == "bad-value" and not isinstance(bad.value, Refused)


def test_nodes_questions_and_plans(server: Server) -> None:
    service = Service(server.address)
    held = service.hold([Box((3, 0), (2, 8))], job=7)
    assert held.nodes == 16
    with pytest.raises(Problem) as taken:
        service.hold(held.boxes)
    assert taken.value.reason == "not-free"
    assert service.fail((0, 0))["state"] == "failed"
    assert service.drain((1, 0))["state"] == "drained"
    state = service.state()
    assert (state["failed"], state["drained"]) == ([[0, 0]], [[1, 0]])
    assert service.repair((0, 0))["state"] == service.repair((1, 0))["state"] == "healthy"
    answers = service.explain((4, 4), strategies=["ff", "gabl"])["strategies"]
    assert len(answers) == 2
    assert service.what_if((4, 4), end=[held.id])["strategies"][0]["granted"]
    plan = service.unblock((4, 4), max_jobs=1)
    assert plan["jobs"] == [held.id] and plan["moves"]
    # There are 24 free nodes on each side.
    assert not service.explain((6, 6), freedom="connected")["strategies"][0]["granted"]
    assert service.explain((6, 6), freedom="any")["strategies"][0]["granted"]
    with service.lease((6, 6), freedom="any") as lease:
        assert lease.nodes == 36
    with pytest.raises(Problem, match="not a valid freedom"):
        service.lease((6, 6), freedom="free")  # type: ignore[arg-type]
    assert service.state(at=2)["leases"][0]["id"] == held.id


def test_batches_answer_one_by_one(server: Server) -> None:
    service = Service(server.address)
    first, second = service.batch([{"lease": {"shape": [8, 8]}}, {"lease": {"shape": [1, 1]}}])
    assert isinstance(first, dict) and first["nodes"] == 64
    assert isinstance(second, Refused) and second.diagnosis is None
    (third,) = service.batch([{"end": {"id": first["id"], "epoch": first["epoch"]}}])
    assert isinstance(third, dict) and third["ended"]


def test_requests_wait_for_their_lease(server: Server) -> None:
    service = Service(server.address)
    all_nodes = service.lease((8, 8))
    waiting = service.ask((2, 2), ttl_s=60, estimate_s=60)
    other = service.ask((8, 8), ttl_s=60)
    assert isinstance(waiting, Waiting) and isinstance(other, Waiting)
    assert [one["id"] for one in service.queue()["waiting"]] == [waiting.id, other.id]
    with pytest.raises(TimeoutError):
        waiting.lease(timeout=0.2)
    timer = threading.Timer(0.2, all_nodes.end)
    timer.start()
    with waiting.lease(timeout=10) as lease:
        assert lease.id == waiting.id and lease.nodes == 4
        other.cancel()
        with pytest.raises(Problem) as gone:
            other.lease()
        assert gone.value.reason == "unknown-lease"
    timer.join()
    now = service.ask((8, 8))
    assert isinstance(now, Lease)


def test_watchers_miss_nothing_over_a_kill(server: Server) -> None:
    service = Service(server.address)
    kept: list[Lease] = [service.lease((1, 1))]
    seen: list[int] = []

    def look() -> None:
        for event in service.watch(after=0, timeout=3):
            if event["kind"] == "granted":
                seen.append(event["lease"]["id"])
                if len(seen) == 4:
                    return

    watcher = threading.Thread(target=look)
    watcher.start()
    kept.append(service.lease((1, 1)))
    server.end()
    # The service restarts while requests are sent. They are answered later and carried out once.
    starter = threading.Timer(0.3, server.start)
    starter.start()
    kept.append(service.lease((1, 1)))
    kept.append(service.lease((1, 1)))
    watcher.join(10)
    starter.join()
    assert seen == [lease.id for lease in kept] == [1, 2, 3, 4]
    began = time.monotonic()
    kinds = [event["kind"] for event in service.watch(after=0, timeout=0.2)]
    assert kinds.count("granted") == 4 and time.monotonic() - began < 5
    assert list(service.watch(timeout=0.1)) == []


class Doubtful(http.server.BaseHTTPRequestHandler):
    """A service whose writes fail for a while, with its next answers and the keys of past requests."""

    answers: ClassVar[list[tuple[int, str]]] = []
    keys: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.keys.append(self.headers["Idempotency-Key"])
        status, reason = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        document = {"reason": reason} if status >= 400 else {"id": 1, "state": "held", "epoch": 7}
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_an_unknown_outcome_is_asked_for_until_it_is_known() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Doubtful) as stub:
        threading.Thread(target=stub.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{stub.server_address[1]}"
        # The request is repeated regardless of the patience and of other errors in between.
        Doubtful.answers[:] = [(503, "outcome-unknown"), (503, "read-only"), (503, "standby"), (201, "")]
        assert Service(address, patience=0).lease((1, 1)).epoch == 7
        assert len(Doubtful.keys) == 4 and len(set(Doubtful.keys)) == 1 and Doubtful.keys[0]
        # A request that has certainly not been carried out is abandoned after `patience` seconds.
        Doubtful.answers[:] = [(503, "read-only")]
        with pytest.raises(Problem) as given_up:
            Service(address, patience=0).lease((1, 1))
        assert given_up.value.reason == "read-only"
        # With `insistence`, the error is the unknown outcome, not the last refusal.
        Doubtful.answers[:] = [(503, "outcome-unknown"), (503, "read-only")]
        with pytest.raises(Problem) as unknown:
            Service(address, patience=0, insistence=0.3).batch([{"end": {"id": 1, "epoch": 7}}])
        assert unknown.value.reason == "outcome-unknown"
        stub.shutdown()


class Quiet(http.server.BaseHTTPRequestHandler):
    """A service that sends one event, then only the number of a record that the caller may not see."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        event = {"kind": "granted", "seq": 1}
        self.wfile.write(f"id: 1\nevent: granted\ndata: {json.dumps(event)}\n\n".encode())
        # The connection is lost in the middle of the last event, which must be sent again.
        self.wfile.write(b"id: 7\n\nid: 9\nevent: granted\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_watcher_continues_after_the_records_that_it_may_not_see() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as stub:
        threading.Thread(target=stub.serve_forever, daemon=True).start()
        watch = Service(f"http://127.0.0.1:{stub.server_address[1]}").watch(after=0)
        assert next(watch)["seq"] == next(watch)["seq"] == 1
        assert Quiet.asked == ["/v1/watch?after=0", "/v1/watch?after=7"]
        watch.close()
        stub.shutdown()


def test_tokens_over_tcp(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("secret\nother tenant=blue quota=4\n")
    (tmp_path / "tokens").chmod(0o600)
    options = ["--machine", "mesh:4x4", "--listen", "127.0.0.1:0", "--token-file", "tokens"]
    server = Server(tmp_path, *options)
    try:
        with pytest.raises(Problem) as stranger:
            Service(server.address).lease((1, 1))
        assert stranger.value.status == 401
        blue = Service(server.address, token="other")
        lease = blue.lease((2, 2))
        assert Service(server.address, "secret").leases()[0].document["tenant"] == "blue"
        with pytest.raises(Problem) as quota:
            blue.lease((1, 1))
        assert quota.value.reason == "over-quota"
        with pytest.raises(Problem) as operator:
            blue.fail((0, 0))
        assert operator.value.reason == "operator-only"
        lease.end()
    finally:
        server.end()
