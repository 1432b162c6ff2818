"""The ledger: what really reached the provider, and what became of it."""

import asyncio
import hashlib
import json
import time

import httpx
import pytest

from experiments.gateway import simulated
from tests.fixtures import wait_until
from tests.paces import at_some_pace


async def ended(provider):
    """The last row, once its request has come to an end."""
    await asyncio.to_thread(wait_until, lambda: provider.ledger()[-1]["ended"], "the end of the request")
    return provider.ledger()[-1]


async def test_requests_are_listed_in_order_with_their_ids(client, body, provider):
    for name in ("first", "second"):
        await client.post("/chat/completions", json=body(), headers={"X-Client-Request-Id": name})
    rows = (await client.get("/ledger")).json()
    assert [(row["n"], row["request_id"], row["outcome"]) for row in rows] == [
        (1, "first", "finished"),
        (2, "second", "finished"),
    ]
    assert rows == provider.ledger()


async def test_a_row_tells_what_was_asked_and_sent(client, body):
    content = json.dumps(body("sim/cooperative:first=0:words=30", stream=True)).encode()
    await client.post("/chat/completions", content=content)
    row = (await client.get("/ledger")).json()[0]
    assert row["body_sha256"] == hashlib.sha256(content).hexdigest()
    assert row["model"] == "sim/cooperative:first=0:words=30"
    assert row["tokens_sent"] == 30
    assert row["received"] <= row["first_byte"] <= row["ended"] <= time.time()
    assert row["closed_after"] is None


async def test_a_client_that_leaves_is_noticed_at_once(client, body, provider):
    """And not by the next token, which would come ten minutes later."""
    request = body("sim/cooperative:tps=0.0016:words=500:first=0", stream=True)
    async with client.stream("POST", "/chat/completions", json=request) as answer:
        async for line in answer.aiter_lines():
            if '"content":"' in line and '"content":""' not in line:
                break
    row = await ended(provider)
    assert row["outcome"] == "client_closed"
    assert row["tokens_sent"] == 1
    assert row["closed_after"] == round(row["ended"] - row["received"], 4)


async def test_a_client_that_leaves_before_the_first_token_is_noticed_too(client, body, provider):
    task = asyncio.create_task(client.post("/chat/completions", json=body("sim/cooperative:first=600")))
    await asyncio.to_thread(
        wait_until, lambda: provider.ledger()[-1:] and provider.ledger()[-1]["model"], "the request"
    )
    task.cancel()
    assert (await ended(provider))["outcome"] == "client_closed"


async def test_a_running_request_is_open(client, body, provider):
    async def attempt(pace):
        asked = body(f"sim/cooperative:first={0.3 * pace}")
        task = asyncio.create_task(client.post("/chat/completions", json=asked))
        await asyncio.sleep(0.1 * pace)
        seen = [row["outcome"] for row in provider.ledger()[-1:]]
        await task
        assert seen == ["open"]
        assert provider.ledger()[-1]["outcome"] == "finished"

    await at_some_pace(attempt)


async def test_the_ledger_can_be_cleared(client, body):
    await client.post("/chat/completions", json=body("sim/cooperative:fail=500:times=1"))
    await client.delete("/ledger")
    assert (await client.get("/ledger")).json() == []
    assert (await client.post("/chat/completions", json=body("sim/cooperative:fail=500:times=1"))).status_code == 500


@pytest.mark.system
def test_the_ledger_is_appended_to_a_file(tmp_path, body):
    path = tmp_path / "ledger.jsonl"
    with simulated.running(tps=0, ledger_path=path) as provider, httpx.Client(base_url=provider.base_url) as client:
        client.post("/chat/completions", json=body())
        client.post("/chat/completions", content=b"{")
        rows = provider.ledger()
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    assert [row["outcome"] for row in rows] == ["finished", "failed_400"]
