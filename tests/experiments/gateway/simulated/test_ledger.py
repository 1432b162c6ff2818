"""The ledger: what really reached the provider, and what became of it."""

import asyncio
import hashlib
import json
import time

import httpx

from experiments.gateway import simulated


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
    request = body("sim/cooperative:tps=20:words=500:first=0", stream=True)
    async with client.stream("POST", "/chat/completions", json=request) as answer:
        async for line in answer.aiter_lines():
            if '"content":" ' in line:
                break
    left = time.time()
    await asyncio.sleep(0.15)
    row = provider.ledger()[-1]
    assert row["outcome"] == "client_closed"
    assert abs(row["ended"] - left) < 0.1
    assert 0 < row["tokens_sent"] < 20
    assert row["closed_after"] == round(row["ended"] - row["received"], 4)


async def test_a_client_that_leaves_before_the_first_token_is_noticed_too(client, body, provider):
    try:
        await client.post("/chat/completions", json=body("sim/cooperative:first=5"), timeout=0.2)
    except httpx.ReadTimeout:
        await asyncio.sleep(0.1)
    assert provider.ledger()[-1]["outcome"] == "client_closed"


async def test_a_running_request_is_open(client, body, provider):
    task = asyncio.create_task(client.post("/chat/completions", json=body("sim/cooperative:first=0.3")))
    await asyncio.sleep(0.1)
    assert provider.ledger()[-1]["outcome"] == "open"
    await task
    assert provider.ledger()[-1]["outcome"] == "finished"


async def test_the_ledger_can_be_cleared(client, body):
    await client.post("/chat/completions", json=body("sim/cooperative:fail=500:times=1"))
    await client.delete("/ledger")
    assert (await client.get("/ledger")).json() == []
    assert (await client.post("/chat/completions", json=body("sim/cooperative:fail=500:times=1"))).status_code == 500


def test_the_ledger_is_appended_to_a_file(tmp_path, body):
    path = tmp_path / "ledger.jsonl"
    with simulated.running(tps=0, ledger_path=path) as provider, httpx.Client(base_url=provider.base_url) as client:
        client.post("/chat/completions", json=body())
        client.post("/chat/completions", content=b"{")
        rows = provider.ledger()
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    assert [row["outcome"] for row in rows] == ["finished", "failed_400"]
