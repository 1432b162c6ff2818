"""The OpenAI protocol: reasoning, usage, logprobs, limits, errors and the list of models."""

import json
import math

import pytest


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
