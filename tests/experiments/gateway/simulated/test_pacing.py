"""Tokens arrive when they are due."""

import asyncio
import json
import time

import httpx
import pytest

from experiments.gateway import simulated
from tests.paces import at_some_pace


async def arrivals(client, body, model):
    """When each piece of the answer came, in seconds since the request."""
    began, times = time.perf_counter(), []
    async with client.stream("POST", "/chat/completions", json=body(model, stream=True)) as answer:
        async for line in answer.aiter_lines():
            if '"content":"' in line and '"content":""' not in line:
                times.append(time.perf_counter() - began)
    return times


async def test_tokens_come_at_the_rate_of_the_name(client, body):
    async def attempt(pace):
        times = await arrivals(client, body, f"sim/cooperative:tps={100 / pace}:words=51:first={0.2 * pace}")
        assert 0.19 * pace < times[0] < 0.6 * pace
        assert 0.45 * pace < times[-1] - times[0] < 0.9 * pace

    await at_some_pace(attempt)


async def test_tokens_come_one_by_one(client, body):
    async def attempt(pace):
        times = await arrivals(client, body, f"sim/cooperative:tps={40 / pace}:words=20:first=0")
        assert len({round(moment, 3) for moment in times}) >= 15

    await at_some_pace(attempt)


async def test_a_whole_answer_takes_as_long_as_a_streamed_one(client, body):
    async def attempt(pace):
        began = time.perf_counter()
        model = f"sim/cooperative:tps={100 / pace}:words=40:first={0.1 * pace}"
        await client.post("/chat/completions", json=body(model))
        assert 0.45 * pace < time.perf_counter() - began < 1.0 * pace

    await at_some_pace(attempt)


@pytest.mark.system
async def test_two_hundred_streams_keep_their_pace(body):
    async def attempt(pace):
        model = f"sim/cooperative:tps={50 / pace}:words=100:first={0.1 * pace}"
        with simulated.running() as crowded:
            requests = [json.dumps(body(model, stream=True, seed=number)).encode() for number in range(200)]
            began = time.perf_counter()
            answers = await asyncio.gather(*(exchange(crowded.base_url, request) for request in requests))
            took = time.perf_counter() - began
        assert all(answer.count(b'"content":"') == 101 for answer in answers)
        assert [row["outcome"] for row in crowded.ledger()] == ["finished"] * 200
        assert 2 * pace < took < 6 * pace

    await at_some_pace(attempt)


async def exchange(base_url, request):
    """The bytes of an answer, read by a client that costs less than httpx: it shares the machine with the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(base_url).port)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(request)}\r\n\r\n"
    )
    writer.write(head.encode() + request)
    answer = await reader.read()
    writer.close()
    return answer
