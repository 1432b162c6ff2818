"""Failures that a model name can ask for, when tokens come, and what the ledger says; the provider as a process."""

import asyncio
import hashlib
import json
import signal
import subprocess
import sys
import time

import httpx
import pytest

from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger
from tests.cases import each_case
from tests.parts.simulated import serve

from .conftest import content_of, ended


async def follow(client, request, heard):
    """heard: called with each piece of the answer when it comes."""
    async with client.stream("POST", "/chat/completions", json=request) as answer:
        async for piece in content_of(answer):
            heard(piece)


@each_case("status", [401, 402, 404, 429, 500, 502, 503])
@each_case("streamed", [True, False])
async def test_a_status_failure_has_an_error_body(client, body, provider, status, streamed):
    answer = await client.post("/chat/completions", json=body(f"sim/cooperative:fail={status}", stream=streamed))
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == status
    assert provider.ledger()[-1]["outcome"] == f"failed_{status}"


async def test_a_failure_happens_so_many_times_per_distinct_body(client, body):
    model = "sim/cooperative:first=0:fail=503:times=2:retry_after=2.5"
    statuses = [(await client.post("/chat/completions", json=body(model))).status_code for _ in range(4)]
    other = await client.post("/chat/completions", json=body(model, seed=1))
    assert [*statuses, other.status_code] == [503, 503, 200, 200, 503]
    assert other.headers["retry-after"] == "2.5"


@each_case(("fail", "error"), [("cut", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
async def test_an_answer_breaks_off_in_the_middle(client, body, provider, fail, error):
    asked, pieces = body(f"sim/cooperative:first=0:tps=100:fail={fail}:after=7", stream=True), []
    with pytest.raises(error):
        await follow(client, asked, pieces.append)
    assert len(pieces) == 7 or fail == "reset"
    assert (provider.ledger()[-1]["outcome"], provider.ledger()[-1]["tokens_sent"]) == (fail, 7)
    with pytest.raises(httpx.TransportError):
        await client.post("/chat/completions", json=body(f"sim/cooperative:first=0:fail={fail}"))


@each_case(("fail", "outcome"), [("stall:after=3", "stalled"), ("silent", "silent")])
@each_case("streamed", [True, False])
async def test_an_answer_that_stalls_waits_for_the_client_to_leave(client, body, provider, fail, outcome, streamed):
    request = body(f"sim/cooperative:first=0:fail={fail}", stream=streamed)
    with pytest.raises(httpx.ReadTimeout):
        await client.post("/chat/completions", json=request, timeout=httpx.Timeout(600, read=30))
    row = await ended(provider)
    assert row["outcome"] == outcome
    assert row["ended"] - row["received"] == pytest.approx(30, abs=15)
    assert row["first_byte"] is None or outcome == "stalled"


async def test_an_answer_can_be_spoiled_without_breaking_off(client, body, ask):
    async def failing(how, **asked):
        return await client.post("/chat/completions", json=body(f"sim/cooperative:first=0:fail={how}", **asked))

    with_error = await failing("error_event:after=4", stream=True)
    assert (with_error.status_code, 'data: {"error": {' in with_error.text) == (200, True)
    assert with_error.text.endswith("data: [DONE]\n\n")
    for how, words, finish in (("length:after=5", 5, "length"), ("empty", 0, "stop")):
        [choice] = (await failing(how)).json()["choices"]
        assert (len(choice["message"]["content"].split()), choice["finish_reason"]) == (words, finish)


async def test_tokens_come_one_by_one_at_the_rate_of_the_name_and_a_whole_answer_takes_as_long(client, body):
    model = "sim/cooperative:tps=1:words=51:first=20"
    clock, times = asyncio.get_running_loop().time, []
    began = clock()
    await follow(client, body(model, stream=True), lambda _piece: times.append(clock() - began))
    assert 19 < times[0] < 30
    assert 45 < times[-1] - times[0] < 90
    assert len({round(moment, 1) for moment in times}) >= 45

    began = clock()
    await client.post("/chat/completions", json=body(model))
    assert clock() - began == pytest.approx(times[-1], abs=20)


# --- the ledger ---


async def test_a_row_tells_what_was_asked_and_sent(client, body, provider):
    content = json.dumps(body("sim/cooperative:first=0:words=30", stream=True)).encode()
    await client.post("/chat/completions", content=content, headers={"X-Client-Request-Id": "first"})
    await client.post("/chat/completions", json=body(), headers={"X-Client-Request-Id": "second"})

    rows = provider.ledger()
    assert [(row["n"], row["request_id"], row["outcome"]) for row in rows] == [
        (1, "first", "finished"),
        (2, "second", "finished"),
    ]
    assert rows[0]["body_sha256"] == hashlib.sha256(content).hexdigest()
    assert (rows[0]["model"], rows[0]["tokens_sent"]) == ("sim/cooperative:first=0:words=30", 30)
    assert rows[0]["received"] <= rows[0]["first_byte"] <= rows[0]["ended"] <= time.time()


async def test_a_client_that_leaves_is_noticed_at_once(client, body, provider):
    """And not by the next token, which would come ten minutes later."""
    request = body("sim/cooperative:tps=0.0016:words=500:first=0", stream=True)
    async with client.stream("POST", "/chat/completions", json=request) as answer:
        await anext(content_of(answer))
    row = await ended(provider)
    assert (row["outcome"], row["tokens_sent"]) == ("client_closed", 1)


async def test_a_client_that_leaves_before_the_first_token_is_noticed_too(client, body, provider):
    task = asyncio.create_task(client.post("/chat/completions", json=body("sim/cooperative:first=600")))
    await asyncio.sleep(1)
    assert [row["outcome"] for row in provider.ledger()] == ["open"]
    task.cancel()
    assert (await ended(provider))["outcome"] == "client_closed"


@pytest.mark.system
def test_the_ledger_is_appended_to_a_file(tmp_path, body):
    path = tmp_path / "ledger.jsonl"
    provider = SimulatedProvider(ledger=Ledger(path))
    with serve(provider) as base_url, httpx.Client(base_url=base_url) as client:
        client.post("/chat/completions", json=body())
        client.post("/chat/completions", content=b"{")
        rows = provider.ledger.rows()
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
