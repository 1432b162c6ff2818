"""When tokens come, what the ledger says of it, and the provider as a process of its own."""

import asyncio
import hashlib
import json
import signal
import subprocess
import sys
import time

import httpx
import pytest

from experiments.gateway import simulated

from .conftest import content_of, ended


async def arrivals(client, body, model, **how):
    """When each piece of the answer came, in seconds since the request."""
    clock, times = asyncio.get_running_loop().time, []
    began = clock()
    async with client.stream("POST", "/chat/completions", json=body(model, stream=True, **how)) as answer:
        async for _piece in content_of(answer):
            times.append(clock() - began)
    return times


async def test_tokens_come_one_by_one_at_the_rate_of_the_name_and_a_whole_answer_takes_as_long(client, body):
    model = "sim/cooperative:tps=100:words=51:first=0.2"
    times = await arrivals(client, body, model)
    assert 0.19 < times[0] < 0.3
    assert 0.45 < times[-1] - times[0] < 0.6
    assert len({round(moment, 3) for moment in times}) == 51

    began = asyncio.get_running_loop().time()
    await client.post("/chat/completions", json=body(model))
    assert asyncio.get_running_loop().time() - began == pytest.approx(times[-1], abs=0.2)


async def test_fifty_streams_keep_their_pace(client, body, provider):
    model = "sim/cooperative:tps=50:words=20:first=0.1"
    streams = await asyncio.gather(*(arrivals(client, body, model, seed=number) for number in range(50)))
    assert {len(times) for times in streams} == {20}
    assert all(0.4 < times[-1] < 2 for times in streams)
    assert [row["outcome"] for row in provider.ledger()] == ["finished"] * 50


# --- the ledger ---


async def test_a_row_tells_what_was_asked_and_sent(client, body, provider):
    content = json.dumps(body("sim/cooperative:first=0:words=30", stream=True)).encode()
    await client.post("/chat/completions", content=content, headers={"X-Client-Request-Id": "first"})
    await client.post("/chat/completions", json=body(), headers={"X-Client-Request-Id": "second"})

    rows = (await client.get("/ledger")).json()
    assert rows == provider.ledger()
    assert [(row["n"], row["request_id"], row["outcome"]) for row in rows] == [
        (1, "first", "finished"),
        (2, "second", "finished"),
    ]
    assert rows[0]["body_sha256"] == hashlib.sha256(content).hexdigest()
    assert (rows[0]["model"], rows[0]["tokens_sent"]) == ("sim/cooperative:first=0:words=30", 30)
    assert rows[0]["received"] <= rows[0]["first_byte"] <= rows[0]["ended"] <= time.time()
    assert rows[0]["closed_after"] is None


async def test_a_client_that_leaves_is_noticed_at_once(client, body, provider):
    """And not by the next token, which would come ten minutes later."""
    request = body("sim/cooperative:tps=0.0016:words=500:first=0", stream=True)
    async with client.stream("POST", "/chat/completions", json=request) as answer:
        await anext(content_of(answer))
    row = await ended(provider)
    assert (row["outcome"], row["tokens_sent"]) == ("client_closed", 1)
    assert row["closed_after"] == round(row["ended"] - row["received"], 4)


async def test_a_client_that_leaves_before_the_first_token_is_noticed_too(client, body, provider):
    task = asyncio.create_task(client.post("/chat/completions", json=body("sim/cooperative:first=600")))
    await asyncio.sleep(1)
    assert [row["outcome"] for row in provider.ledger()] == ["open"]
    task.cancel()
    assert (await ended(provider))["outcome"] == "client_closed"


async def test_clearing_the_ledger_makes_failures_begin_anew(client, body):
    failing = body("sim/cooperative:fail=500:times=1")
    await client.post("/chat/completions", json=failing)
    await client.delete("/ledger")
    assert (await client.get("/ledger")).json() == []
    assert (await client.post("/chat/completions", json=failing)).status_code == 500


@pytest.mark.system
def test_the_ledger_is_appended_to_a_file(tmp_path, body):
    path = tmp_path / "ledger.jsonl"
    with simulated.running(tps=0, ledger_path=path) as provider, httpx.Client(base_url=provider.base_url) as client:
        client.post("/chat/completions", json=body())
        client.post("/chat/completions", content=b"{")
        rows = provider.ledger()
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    assert [row["outcome"] for row in rows] == ["finished", "failed_400"]


# --- a process of its own ---


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_ends_within_seconds_although_a_stream_is_open(tmp_path, number, body):
    port_file = tmp_path / "port"
    command = [sys.executable, "-m", "experiments.gateway.simulated", "--port-file", str(port_file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = process.stdout.readline().removeprefix("listening on ").strip()
    assert url == f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
    request = body("sim/cooperative:tps=1:words=500:first=0", stream=True)
    with httpx.Client(timeout=60) as client, client.stream("POST", f"{url}/chat/completions", json=request) as answer:
        assert answer.status_code == 200
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, ""), "the stream would go on for 500 s"


@pytest.mark.system
def test_a_port_that_is_taken_is_an_error():
    command = [sys.executable, "-m", "experiments.gateway.simulated", "--port", "1", "--host", "203.0.113.1"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode != 0
