"""Providers that want a key, people who have some, planted keys, and whatever would give one of them away."""

import base64
import json
import logging
import urllib.parse
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Pacer
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey, ProviderModel, Run
from tests.experiments.webhooks.conftest import hook_of
from tests.fixtures import is_system
from tests.making import maker
from tests.parts.simulated import Running
from tests.scripted import serving

LAB, MINE, OTHER = "sk-lab-0a1b2c3d4e5f6071", "sk-mine-8899aabbccddeeff", "sk-other-1122334455667788"


@pytest.fixture
def doors(request: pytest.FixtureRequest) -> Iterator[dict[str, Running]]:
    """Simulated providers by the one key that they accept."""
    with ExitStack() as stack:
        apps = {key: SimulatedProvider(api_key=key, pacer=Pacer(0)) for key in (LAB, MINE)}
        yield {
            key: Running(stack.enter_context(serving(app, over_http=is_system(request.node))), app)
            for key, app in apps.items()
        }


@maker
def locked(provider: Running, doors: dict[str, Running], /, key: str = MINE, **fields: Any) -> Provider:
    """Enters a provider that accepts this key alone, with two models."""
    made = Provider.objects.create(
        name="locked", base_url=doors[key].base_url, allow_private=True, needs_key=True, **fields
    )
    for slug, upstream in {"locked/one": "sim/neutral:first=0", "locked/two": "sim/cooperative:first=0"}.items():
        ProviderModel.objects.create(provider=made, slug=slug, upstream=upstream, label=slug)
    return made


@maker
def add(by: Any, provider: Provider, key: str = MINE, **more: Any) -> ProviderKey:
    return keyring.add(by=by, provider=provider, key=key, **more)


@pytest.fixture
def planted(scripted: Any, alice: Any, admin: Any, monkeypatch: Any) -> Any:
    """The lab's key, stored and in the environment, for one provider, Alice's for another: both one hostile server."""
    monkeypatch.setenv("KEY_OF_THE_LAB", OF_LAB)
    Provider.objects.filter(pk=scripted.provider.pk).update(api_key_env="KEY_OF_THE_LAB")
    other = Provider.objects.create(name="other", base_url=scripted.base_url, allow_private=True, needs_key=True)
    keyring.add(by=admin, provider=scripted.provider, key=OF_LAB, for_lab=True)
    keyring.add(by=alice, provider=other, key=OF_ALICE)
    hook_of(alice, "https://example.org/")
    return admin


@pytest.fixture
def runs(planted: Any, scripted: Any, arena: Any, start: Any, drive: Any, caplog: Any) -> list[Run]:
    """Runs in which the provider repeats the key in every way, in good answers and in bad ones."""
    begun = []
    caplog.set_level(logging.DEBUG)
    for provider, key in zip((scripted.provider, Provider.objects.get(name="other")), KEYS, strict=True):
        scripted.error = json.dumps({"error": {"message": f"Wrong: {' '.join(forms(key))}", "code": key}}).encode()
        for name, answer in [*said_by_a_hostile_provider(scripted, key), ("fails", 401)]:
            slug = scripted.model(f"{provider.name}/{name}", answer)
            provider.models.model.objects.filter(slug=slug).update(provider=provider)
            begun.append(start(arena(slug, max_turns=1, judge=False, filter=False)))
        drive()
    return [Run.objects.get(pk=run.pk) for run in begun]


OF_LAB, OF_ALICE = "sk-canary-7f3a9c55e1d24b08", "canary/9b+2d0c=6e4f81a7"
KEYS = [OF_LAB, OF_ALICE]


def forms(key):
    """The key in every way in which a reader could restore it."""
    bearer = f"Bearer {key}"
    yield from (key, bearer, urllib.parse.quote(key, safe=""), urllib.parse.quote(urllib.parse.quote(key, safe="")))
    yield "".join(f"%{ord(letter):02X}" for letter in key)
    yield "".join(f"\\u{ord(letter):04x}" for letter in key)
    yield json.dumps(json.dumps({"k": key}))
    yield key.encode().hex()
    for text in (key, bearer, f":{key}", f"x:{key}", json.dumps({"authorization": bearer})):
        encoded = base64.b64encode(text.encode()).decode()
        yield from (encoded, encoded.rstrip("="), base64.urlsafe_b64encode(text.encode()).decode().rstrip("="))


def found_in(text):
    """What of it gives a key away: the longer part of any form."""
    traces = {part for key in KEYS for part in (key[:14], key[-12:], *(form[4:24] for form in list(forms(key))[2:8]))}
    return [trace for trace in traces if trace in text]


def said_by_a_hostile_provider(scripted, key):
    """Models by what they do with the key that they are asked with."""
    half = len(key) // 2
    spelled = [{"content": letter} for letter in key]
    yield "splits", ["My key is ", key[:half], key[half:], ". Bye."]
    yield "spells", [*spelled, " is it."]
    yield "thinks", [{"reasoning": f"the key {key[:5]}"}, {"reasoning": key[5:]}, "Done."]
    yield "encodes", [base64.b64encode(f"Bearer {key}".encode()).decode(), " and more"]
