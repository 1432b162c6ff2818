"""One provider without pacing for the whole session; tests ask it over HTTP and read its ledger."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from experiments.gateway import simulated

SCENARIO = (
    "You negotiate over seven computer parts: a graphics card, the memory modules, and one power supply. "
    "Each side needs five parts. Agree on the split of the computer parts with the other side."
)


@pytest.fixture(scope="session")
def provider() -> Iterator[simulated.Running]:
    with simulated.running(tps=0) as running:
        yield running


@pytest.fixture
async def client(provider: simulated.Running) -> AsyncIterator[httpx.AsyncClient]:
    provider.clear_ledger()
    async with httpx.AsyncClient(base_url=provider.base_url, timeout=120, verify=False) as client:
        yield client


@pytest.fixture
def body() -> Callable[..., dict[str, Any]]:
    def build(model: str = "sim/cooperative:first=0", **changes: Any) -> dict[str, Any]:
        messages = [{"role": "system", "content": SCENARIO}, {"role": "user", "content": "Begin the conversation."}]
        return {"model": model, "messages": messages, **changes}

    return build


@pytest.fixture
def ask(client: httpx.AsyncClient, body: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    """The parsed body of a whole answer."""

    async def ask_once(model: str = "sim/cooperative:first=0", **changes: Any) -> dict[str, Any]:
        answer = await client.post("/chat/completions", json=body(model, **changes))
        return answer.json()

    return ask_once


@pytest.fixture
def stream(client: httpx.AsyncClient, body: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    """The parsed chunks of a streamed answer, without the end mark."""

    async def stream_once(model: str = "sim/cooperative:first=0", **changes: Any) -> list[dict[str, Any]]:
        answer = await client.post("/chat/completions", json=body(model, stream=True, **changes))
        lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: ")]
        assert lines[-1] == "[DONE]"
        return [json.loads(line) for line in lines[:-1]]

    return stream_once


@pytest.fixture
def talk(client: httpx.AsyncClient) -> Callable[..., Any]:
    """The messages of one model that hears the same reply again and again."""

    async def talk_for(model: str, turns: int, heard: str = "I need the memory modules.") -> list[str]:
        messages = [{"role": "system", "content": SCENARIO}]
        said: list[str] = []
        for _ in range(turns):
            messages.append({"role": "user", "content": heard})
            answer = await client.post("/chat/completions", json={"model": model, "messages": messages})
            said.append(answer.json()["choices"][0]["message"]["content"])
            messages.append({"role": "assistant", "content": said[-1]})
        return said

    return talk_for
