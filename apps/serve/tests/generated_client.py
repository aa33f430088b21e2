"""Tests the client that openapi-python-client generates from the OpenAPI document.

    python generated_client.py FOLDER ADDRESS TOKEN

FOLDER contains the generated package. The service at ADDRESS has the machine mesh:8x8 and a
scheduler; TOKEN is the operator's token.
"""

import importlib
import sys
from datetime import UTC, datetime
from http import HTTPStatus

import httpx

folder, address, token = sys.argv[1:]
sys.path.insert(0, folder)

from pavior_client import AuthenticatedClient, Client, models
from pavior_client.api.leases import batch, create, end, hold, lease, leases, queue, renew, watch
from pavior_client.api.machines import explain, machine, series, slots, state, unblock, what_if
from pavior_client.api.nodes import drain, fail, repair
from pavior_client.api.service import healthz, metrics, readyz

client = AuthenticatedClient(address, token)


def complete() -> None:
    """Checks that every documented operation has a function that takes its body."""
    document = httpx.get(f"{address}/openapi.json").json()
    operations = 0
    for path, item in document["paths"].items():
        for operation in item.values():
            operations += 1
            name = operation["operationId"]
            module = importlib.import_module(f"pavior_client.api.{operation['tags'][0]}.{name}")
            takes = module.sync_detailed.__annotations__
            assert ("body" in takes) == ("requestBody" in operation), (path, takes)
    assert operations == 30, operations
    body = models.LeaseBody.__attrs_attrs__
    assert {"shape", "nodes", "ttl_s", "wait", "job", "freedom"} <= {one.name for one in body}


def leases_change_hands() -> None:
    asked = models.LeaseBody(shape=[2, 3], ttl_s=60.0, job="first")
    granted = create.sync_detailed(client=client, body=asked, idempotency_key="k")
    assert granted.status_code == HTTPStatus.CREATED, granted
    first = granted.parsed
    assert isinstance(first, models.Lease) and first.nodes == 6
    assert isinstance(first.expires, datetime) and first.expires > datetime.now(UTC)
    assert create.sync(client=client, body=asked, idempotency_key="k") == first
    reused = create.sync_detailed(
        client=client, body=models.LeaseBody(nodes=1), idempotency_key="k"
    )
    assert reused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert isinstance(reused.parsed, models.Problem) and reused.parsed.reason == "key-reused"

    longer = renew.sync(
        first.id, client=client, body=models.RenewBody(epoch=first.epoch, ttl_s=600.0)
    )
    assert isinstance(longer, models.Lease) and longer.expires > first.expires
    assert lease.sync(first.id, client=client) == longer
    part = models.BoxBody(base=[0, 7], sides=[8, 1])
    held = hold.sync(client=client, body=models.HoldBody(parts=[part]))
    assert isinstance(held, models.Lease) and held.nodes == 8

    refused = create.sync(client=client, body=models.LeaseBody(shape=[8, 8]))
    assert isinstance(refused, models.Problem) and refused.reason == "too-few-free-nodes", refused
    assert isinstance(refused.diagnosis, models.Diagnosis)
    assert refused.diagnosis.counts.busy == 14
    waiting = create.sync(client=client, body=models.LeaseBody(shape=[8, 8]), wait=True)
    assert isinstance(waiting, models.Waiting)
    waits = queue.sync(client=client)
    assert isinstance(waits, models.Queue) and [one.id for one in waits.waiting] == [waiting.id]
    assert isinstance(lease.sync(waiting.id, client=client), models.Waiting)
    assert isinstance(end.sync(waiting.id, client=client, body=models.EndBody()), models.Ended)

    stale = end.sync(first.id, client=client, body=models.EndBody(epoch=first.epoch + 1))
    assert isinstance(stale, models.Problem) and stale.reason == "stale-epoch"
    ended = end.sync(first.id, client=client, body=models.EndBody(epoch=first.epoch))
    assert isinstance(ended, models.Ended) and ended.nodes == 6
    left = leases.sync(client=client, limit=10)
    assert isinstance(left, models.Leases) and [one.id for one in left.leases] == [held.id]

    commands = [
        models.OperationType0(lease=models.LeaseBody(nodes=4)),
        models.OperationType1(end=models.EndOperation(id=held.id, epoch=held.epoch)),
        models.OperationType1(end=models.EndOperation(id=999)),
    ]
    answers = batch.sync(client=client, body=models.BatchBody(operations=commands))
    assert isinstance(answers, models.Answers)
    assert [one.status for one in answers.answers] == [201, 200, 404], answers


def machines_explain_themselves() -> None:
    node = models.NodeBody(node=[7, 7])
    assert fail.sync(client=client, body=node).state == "failed"
    assert repair.sync(client=client, body=node).state == "healthy"
    assert drain.sync(client=client, body=node).state == "drained"
    counts = machine.sync(client=client)
    assert isinstance(counts, models.Machine) and (counts.failed, counts.drained) == (0, 1)
    assert counts.free + counts.busy + counts.failed + counts.drained == counts.nodes == 64
    drawn = state.sync(client=client)
    assert isinstance(drawn, models.State) and drawn.drained == [[7, 7]]
    assert isinstance(drawn.now, datetime) and isinstance(drawn.leases[0].start, datetime)
    assert isinstance(series.sync(client=client), models.Series)

    question = models.ExplainBody(shape=[8, 8], strategies=["ff", "gabl"])
    explained = explain.sync(client=client, body=question)
    assert isinstance(explained, models.Explanation)
    assert [one.granted for one in explained.strategies] == [False, False]
    assert explained.diagnosis.blocked.drained == [[7, 7]]
    own = drawn.leases[0].id
    if_repaired = models.WhatIfBody(shape=[8, 8], end=[own], repair=[[7, 7]])
    imagined = what_if.sync(client=client, body=if_repaired)
    assert isinstance(imagined, models.Explanation) and imagined.strategies[0].granted
    plan = unblock.sync(client=client, body=models.UnblockBody(shape=[2, 2], max_jobs=1))
    assert isinstance(plan, models.Plan) and plan.fits
    fit = slots.sync(client=client, shape="4x2", moves=1)
    assert isinstance(fit, models.SlotsReply) and fit.slots == len(fit.boxes) > 0
    assert isinstance(fit.after, models.SlotsAfter) and fit.after.bound >= fit.after.slots
    assert explained.diagnosis.why[0].startswith("It needs 64 nodes")
    gone = watch.sync_detailed(client=client, after=10**9)
    assert gone.status_code == HTTPStatus.GONE and gone.parsed.reason == "ahead"


def callers_are_known() -> None:
    stranger = AuthenticatedClient(address, "wrong")
    unknown = machine.sync(client=stranger)
    assert isinstance(unknown, models.Problem) and unknown.status == 401
    anyone = Client(address)
    assert healthz.sync(client=anyone).status == "ok"
    assert readyz.sync(client=anyone).status == "ready"
    assert 'pavior_drained_nodes{machine="default"} 1' in metrics.sync(client=client)


complete()
leases_change_hands()
machines_explain_themselves()
callers_are_known()
print("the generated client has every operation and matches the document")
