"""A provider without pacing: tests ask it as a client does, and read its ledger."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.making import maker
from tests.parts import in_process
from tests.parts.simulated import Running

SCENARIO = "You negotiate over seven computer parts, of which each side needs five. Agree on a split of the parts."


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


@pytest.fixture
async def client(simulated: Running) -> AsyncIterator[httpx.AsyncClient]:
    transport = in_process.Transport()
    async with httpx.AsyncClient(base_url=simulated.base_url, timeout=120, transport=transport) as client:
        yield client


@maker
def body(model: str = "sim/cooperative:first=0", **changes: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": SCENARIO}, {"role": "user", "content": "Begin the conversation."}]
    return {"model": model, "messages": messages, **changes}


@maker
async def ask(client: httpx.AsyncClient, body: Any, /, *model: str, **changes: Any) -> dict[str, Any]:
    """The parsed body of a whole answer."""
    answer = await client.post("/chat/completions", json=body(*model, **changes))
    return answer.json()


@maker
async def stream(client: httpx.AsyncClient, body: Any, /, *model: str, **changes: Any) -> list[dict[str, Any]]:
    """The parsed chunks of a streamed answer, without the end mark."""
    answer = await client.post("/chat/completions", json=body(*model, stream=True, **changes))
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]
