"""Connections to places where a provider has no business being, and names that lead there after a while."""

import asyncio
import socket

import pytest

from experiments.gateway import ChatRequest, Client, ForbiddenAddress, Refused, Unreachable, guarded_transport
from experiments.gateway.addresses import is_allowed
from experiments.lab.webhooks import sending

NAME = "rebinding.example"
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"]
PRIVATE = [
    "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "100.127.255.254", "::1", "fc00::1", "fd00::1",
]  # fmt: skip
NEVER = [
    "169.254.169.254", "169.254.170.2", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1",
    "198.18.0.1", "fe80::1", "fe80::1%eth0", "fe80::1%", "ff02::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1",
    "::ffff:169.254.169.254", "::ffff:8.8.8.8", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::",
    "2001:0:1::", "::127.0.0.1", "2001:db8::1", "fec0::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "192.88.99.1",
]  # fmt: skip
SPELLINGS = [
    "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "localhost.",
    "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "LOCALHOST", "[fe80::1%25eth0]", "[::]", "0", "0.0.0.0", "127.0.0.1", "127.9.9.9", "me@127.0.0.1",
    "0x7f.0x0.0x0.0x1", "[::127.0.0.1]", "[::ffff:0:0]", "[0000:0000:0000:0000:0000:ffff:7f00:0001]", "localhost",
    "%31%32%37.0.0.1",
]  # fmt: skip


def test_addresses_are_allowed_by_their_network():
    for private_too in (False, True):
        allowed = {one for one in PUBLIC + PRIVATE + NEVER if is_allowed(one, allow_private=private_too)}
        assert allowed == set(PUBLIC + PRIVATE if private_too else PUBLIC)


async def test_a_name_is_looked_at_once_and_again_with_every_connection(provider, full_stream):
    """A second answer of the name server for the same connection could be another one."""
    transport = guarded_transport(allow_private=False)
    client = Client(f"http://{NAME}/v1", "", transport)
    provider.streams(full_stream)
    for inwards in PRIVATE + NEVER:
        provider.connected.clear()
        provider.resolved.clear()
        provider.names[NAME] = [PUBLIC[0]]
        assert (await client.complete(ChatRequest("m", ()))).text == "Hello there"
        assert (provider.resolved, provider.received[-1].headers["host"]) == ([NAME], NAME)

        provider.names[NAME] = [inwards]
        with pytest.raises(ForbiddenAddress):
            await client.complete(ChatRequest("m", ()))
        provider.names[NAME] = [inwards, PUBLIC[0], inwards]
        await client.complete(ChatRequest("m", ()))
        assert provider.connected == [PUBLIC[0]] * 2, inwards

    provider.names[NAME] = PUBLIC[:2]
    provider.unreachable.add(PUBLIC[0])
    assert (await client.complete(ChatRequest("m", ()))).text == "Hello there"
    assert provider.connected[-1] == PUBLIC[1], "an unreachable first address does not hide a reachable second"
    await transport.aclose()


async def test_the_name_of_a_webhook_is_looked_at_in_the_same_way(provider):
    provider.names[NAME] = ["169.254.169.254"]
    async with sending.client(allow_private=False, at_once=1) as client:
        with pytest.raises(ForbiddenAddress):
            await client.post(f"http://{NAME}/")
    assert provider.connected == []


@pytest.mark.system
async def test_no_spelling_of_an_inner_address_gets_through():
    """Resolved by the machine's own resolver, whatever it makes of them; a listener on all addresses hears of none."""
    connected = []

    async def serve(_reader, writer):
        connected.append(writer.get_extra_info("sockname"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    family = {"family": socket.AF_INET6, "dualstack_ipv6": True} if socket.has_dualstack_ipv6() else {}
    listener = socket.create_server(("", 0), **family)
    port = listener.getsockname()[1]
    async with await asyncio.start_server(serve, sock=listener):
        async with guarded_transport(allow_private=False) as transport:
            for spelling in SPELLINGS:
                with pytest.raises((ForbiddenAddress, Unreachable, Refused)):
                    await Client(f"http://{spelling}:{port}/v1", "", transport).complete(ChatRequest("m", ()))
        assert connected == []
        async with guarded_transport(allow_private=True) as transport:
            await Client(f"http://127.0.0.1:{port}", "", transport).fetch("/heard")
    assert len(connected) == 1
