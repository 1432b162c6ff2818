"""Batches: what is sent and read back at a provider that has them, and what each way of failing is called."""

import json

import pytest

from experiments.gateway import ChatMessage, ChatRequest, Client, GatewayError, Params, batches
from experiments.gateway.request import prepare
from experiments.gateway.simulated.batches import Batches
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger, Pacer
from tests.parts import in_process, virtual_time

MODEL = "sim/neutral:first=0"


@pytest.fixture
def lab():
    """A provider and a client of it."""
    app = SimulatedProvider("sk-canary-0123456789", Ledger(), Pacer(0), Batches(seconds=100))
    with in_process.served(app) as base_url:
        yield app, Client(base_url, "sk-canary-0123456789", in_process.Transport())


def request(model=MODEL):
    return ChatRequest(model, (ChatMessage("user", "How do locks open?"),), Params(seed=7))


def line(name, model=MODEL):
    return batches.line_of(name, prepare(request(model), stream=False).body)


async def create(client, lines, name):
    return await batches.create(client, await batches.upload(client, lines), name)


async def ended(client, made):
    virtual_time.skip(101)
    return await batches.look(client, made.id)


async def test_lines_come_back_as_calls_of_their_own_would_be_answered(lab):
    app, client = lab
    made = await create(client, [line("one"), line("two", "sim/neutral:cost=1")], "row-7")
    virtual_time.skip(50)
    half = await batches.look(client, made.id)
    done = await ended(client, made)
    found = await batches.answers(client, done)
    alone = await client.complete(request())
    dear = batches.completion_of(found["two"], request())

    assert (made.stage, half.stage, half.done, half.total) == ("going", "going", 1, 2)
    assert (done.stage, done.is_complete, done.done) == ("ended", True, 2)
    completion = batches.completion_of(found["one"], request())
    assert (completion.text, completion.usage, completion.finish_reason) == (alone.text, alone.usage, "stop")
    assert [entry["request_id"] for entry in app.ledger.rows()][:2] == ["one", "two"]
    usage = dear.usage
    assert float(usage.provider_cost) == (usage.input_tokens * 5e-7 + usage.output_tokens * 1.5e-6) / 2


async def test_a_batch_is_found_by_its_name_beyond_the_first_page(lab, monkeypatch):
    _app, client = lab
    made = await create(client, [line("one")], "row-7")
    monkeypatch.setattr(batches, "PER_PAGE", 3)
    for number in range(batches.PER_PAGE + 1):
        await create(client, [line("one")], f"other-{number}")

    assert await batches.find(client, "row-7") == made
    assert await batches.find(client, "row-8") is None


def test_a_line_that_is_no_answer_is_an_error():
    for answer, kind in (
        ("[]", "bad_answer"),
        ("no JSON", "bad_answer"),
        ('{"response": {"status_code": 200, "body": {"choices": []}}}', "bad_answer"),
        ('{"error": {"code": "token_limit_exceeded", "message": "Enqueued token limit reached: rate limit"}}', None),
        ('{"response": {"status_code": 200, "body": null}, "error": null}', None),
    ):
        with pytest.raises(GatewayError) as failed:
            batches.completion_of(answer, request())
        assert kind in (None, failed.value.kind), answer


async def test_a_provider_without_batches_and_one_that_repeats_the_key_are_seen_through(lab):
    app, client = lab
    with pytest.raises(GatewayError):
        await batches.look(Client(client._base_url, "wrong", in_process.Transport()), "batch")
    with pytest.raises(GatewayError):
        await batches.look(client, "../models")
    made = await create(client, [line("one")], "row")
    done = await ended(client, made)
    name = done.files[0]
    app.batches.files[name] = app.batches.files[name].replace(b"stop", b"sk-canary-0123456789")

    assert "canary" not in json.dumps(await batches.answers(client, done))
