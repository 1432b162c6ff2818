"""The OpenAI protocol, failures that a model name can ask for, when tokens come, the ledger, and the process."""

import asyncio
import json
import math
import signal
import subprocess
import sys

import httpx
import pytest

from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger
from tests.parts import in_process


def deltas(chunks, name):
    pieces = [chunk["choices"][0]["delta"].get(name) for chunk in chunks if chunk["choices"]]
    return [piece for piece in pieces if piece]


async def test_usage_counts_the_tokens_that_were_sent_and_comes_where_it_is_asked_for(ask, stream):
    chunks = await stream("sim/deceptive:first=0", stream_options={"include_usage": True})
    usage = chunks[-1]["usage"]
    sent, thought = len(deltas(chunks, "content")), len(deltas(chunks, "reasoning"))
    assert (usage["completion_tokens"], chunks[-1]["choices"]) == (sent + thought, [])
    assert usage["completion_tokens_details"]["reasoning_tokens"] == thought
    assert not any("usage" in chunk for chunk in await stream())

    usage = (await ask("sim/cooperative:first=0:cost"))["usage"]
    assert usage["cost"] == pytest.approx(usage["prompt_tokens"] * 5e-7 + usage["completion_tokens"] * 1.5e-6)


async def test_logprobs_are_sorted_hold_the_chosen_token_and_are_the_same_whole_and_streamed(ask, stream):
    chunks = await stream(logprobs=True, top_logprobs=5)
    entries = [chunk["choices"][0]["logprobs"]["content"][0] for chunk in chunks if chunk["choices"][0]["logprobs"]]
    assert [entry["token"] for entry in entries] == deltas(chunks, "content")
    for entry in entries:
        logprobs = [alternative["logprob"] for alternative in entry["top_logprobs"]]
        assert len(logprobs) == 5
        assert logprobs == sorted(logprobs, reverse=True)
        assert (entry["token"], entry["logprob"]) in [(a["token"], a["logprob"]) for a in entry["top_logprobs"]]
        assert sum(map(math.exp, logprobs)) <= 1.0001
        assert bytes(entry["bytes"]).decode() == entry["token"]
    [whole] = (await ask(logprobs=True, top_logprobs=5))["choices"]
    assert whole["logprobs"]["content"] == entries
    assert (await ask())["choices"][0]["logprobs"] is None


async def test_the_list_of_models_says_that_they_are_simulated(client):
    models = (await client.get("/models")).json()["data"]
    assert {"sim/cooperative", "sim/judge", "sim/filter"} <= {model["id"] for model in models}
    assert all(model["name"].startswith("Simulated") for model in models)
    assert all(float(model["pricing"]["prompt"]) > 0 and "e" not in model["pricing"]["prompt"] for model in models)


async def test_an_unknown_name_is_a_404_and_a_malformed_request_is_refused_with_the_reason(client, body):
    for name in ("gpt-4", "sim/nobody", "sim/judge:colour=red", "sim/judge:tps=fast", "sim/judge:tps=nan"):
        answer = await client.post("/chat/completions", json=body(name))
        assert answer.status_code == answer.json()["error"]["code"] == 404, name
        assert answer.json()["error"]["message"], name

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    odd_role, shown_a_picture = (
        json.dumps({"model": "sim/judge", "messages": messages}).encode()
        for messages in ([{"role": "x"}], [{"role": "user", "content": [picture]}])
    )
    for content in (b"{", b"[]", b'{"model": 3}', b'{"model": "sim/judge"}', odd_role, shown_a_picture):
        answer = await client.post("/chat/completions", content=content)
        assert answer.status_code == 400, content
        assert answer.json()["error"]["message"], content


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
