"""Failures that a model name can ask for, when tokens come, and what the ledger says; the provider as a process."""

import asyncio
import json
import signal
import subprocess
import sys

import httpx
import pytest

from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger
from tests.parts import in_process


async def test_an_answer_that_stalls_waits_for_the_client_to_leave(client, body, simulated):
    for fail, outcome in (("stall:after=3", "stalled"), ("silent", "silent")):
        for streamed in (True, False):
            request = body(f"sim/cooperative:first=0:fail={fail}", stream=streamed)
            with pytest.raises(httpx.ReadTimeout):
                await client.post("/chat/completions", json=request, timeout=httpx.Timeout(600, read=30))
            await asyncio.sleep(1)
            row = simulated.ledger()[-1]
            assert row["outcome"] == outcome
            assert row["ended"] - row["received"] == pytest.approx(30, abs=15)
            assert row["first_byte"] is None or outcome == "stalled"


async def test_tokens_come_one_by_one_at_the_rate_of_the_name_and_a_whole_answer_takes_as_long(client, body):
    model = "sim/cooperative:tps=1:words=51:first=20"
    clock, times = asyncio.get_running_loop().time, []
    began = clock()
    async with client.stream("POST", "/chat/completions", json=body(model, stream=True)) as answer:
        async for line in answer.aiter_lines():
            if '"content":"' in line and '"content":""' not in line:
                times.append(clock() - began)
    assert 19 < times[0] < 30
    assert 45 < times[-1] - times[0] < 90
    assert len({round(moment, 1) for moment in times}) >= 45

    began = clock()
    await client.post("/chat/completions", json=body(model))
    assert clock() - began == pytest.approx(times[-1], abs=20)


async def test_the_ledger_is_appended_to_a_file(tmp_path, body):
    path = tmp_path / "ledger.jsonl"
    provider = SimulatedProvider(ledger=Ledger(path))
    with in_process.served(provider) as base_url:
        async with httpx.AsyncClient(base_url=base_url, transport=in_process.Transport()) as client:
            await client.post("/chat/completions", json=body())
            await client.post("/chat/completions", content=b"{")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == provider.ledger.rows()
    assert [row["outcome"] for row in rows] == ["finished", "failed_400"]


@pytest.mark.system
def test_it_says_where_it_listens_and_ends_within_seconds_although_a_stream_is_open(tmp_path, body):
    port_file = tmp_path / "port"
    command = [sys.executable, "-m", "experiments.gateway.simulated"]
    taken = subprocess.run([*command, "--port", "1", "--host", "203.0.113.1"], capture_output=True, timeout=120)
    assert taken.returncode != 0, "a port that is taken is an error"

    request = body("sim/cooperative:tps=1:words=500:first=0", stream=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        port_file.unlink(missing_ok=True)
        started = [*command, "--port-file", str(port_file)]
        process = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = process.stdout.readline().removeprefix("listening on ").strip()
        assert url == f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
        with (
            httpx.Client(timeout=60) as client,
            client.stream("POST", f"{url}/chat/completions", json=request) as answer,
        ):
            assert answer.status_code == 200
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, ""), "the stream would go on for 500 s"
