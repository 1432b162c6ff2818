"""Connections to places where a provider has no business being."""

import asyncio
import socket

import httpx
import pytest

from experiments.gateway import ChatRequest, Client, ForbiddenAddress, guarded_transport
from experiments.gateway.addresses import is_allowed
from tests.cases import each_case

PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"]
PRIVATE = ["127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::1"]
NEVER = [
    "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "fe80::1",
    "fe80::1%eth0", "ff02::1", "::", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::1",
    "2002:7f00:1::", "2001:0:1::", "::127.0.0.1", "2001:db8::1", "fec0::1", "fd00:ec2::254", "100.100.100.200",
    "168.63.129.16", "192.0.0.192", "192.88.99.1",
]  # fmt: skip


@each_case("address", PUBLIC)
def test_public_addresses_are_allowed(address):
    assert is_allowed(address, allow_private=False)


@each_case("address", PRIVATE)
def test_private_addresses_only_with_leave(address):
    assert not is_allowed(address, allow_private=False)
    assert is_allowed(address, allow_private=True)


@each_case("address", NEVER)
def test_some_addresses_are_never_allowed(address):
    assert not is_allowed(address, allow_private=False)
    assert not is_allowed(address, allow_private=True)


@pytest.mark.system
@each_case("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::1]"])
async def test_every_spelling_of_loopback_is_refused(provider, host):
    port = provider.url.split(":")[2]
    client = Client(f"http://{host}:{port}", "")
    with pytest.raises(ForbiddenAddress, match="administrator"):
        await client.complete(ChatRequest("m", ()))
    await client.aclose()
    assert provider.connections == 0


@pytest.mark.system
async def test_a_name_that_changes_its_address_gains_nothing(provider, full_stream, monkeypatch):
    """The name server answers once with a good address and from then on with a forbidden one."""
    provider.streams(full_stream)
    port = int(provider.url.split(":")[2].split("/")[0])
    answers = [[(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))] for address in ("127.0.0.1", "10.9.9.9")]
    asked = []

    async def getaddrinfo(self, host, port, **_):
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    transport = guarded_transport(allow_private=True)
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    completion = await Client(f"http://rebinding.example:{port}/v1", "", transport).complete(ChatRequest("m", ()))
    await transport.aclose()
    assert completion.text == "Hello there"
    assert asked == ["rebinding.example"]
    assert provider.received[0].headers["host"] == f"rebinding.example:{port}"


@pytest.mark.system
async def test_a_dead_first_address_does_not_hide_a_live_second(provider, full_stream, monkeypatch):
    provider.streams(full_stream)
    port = int(provider.url.split(":")[2].split("/")[0])

    async def getaddrinfo(self, host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("127.0.0.9", "127.0.0.1")]

    transport = guarded_transport(allow_private=True)
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    completion = await Client(f"http://two.example:{port}/v1", "", transport).complete(ChatRequest("m", ()))
    await transport.aclose()
    assert completion.text == "Hello there"


async def test_the_guard_is_really_in_the_pool():
    transport = guarded_transport(allow_private=False)
    async with httpx.AsyncClient(transport=transport) as client:
        with pytest.raises(ForbiddenAddress):
            await client.get("http://169.254.169.254/latest/meta-data")
