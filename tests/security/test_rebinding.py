"""A name that answers with a public address first and with another one later leads nowhere that is not public."""

import ast
import asyncio
import socket
from pathlib import Path

import httpcore
import pytest

from experiments.gateway import ChatRequest, Client, ForbiddenAddress, Refused, Unreachable, guarded_transport
from experiments.gateway.addresses import is_allowed
from experiments.webhooks import sending

ROOT = Path(__file__).parent.parent.parent
NAME, PUBLIC = "rebinding.example", "8.8.8.8"
INWARDS = [
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.31.255.255", "192.168.0.1", "100.64.0.1"),
    *("100.127.255.254",),
    *("169.254.169.254", "169.254.170.2", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "::ffff:127.0.0.1"),
    *("::ffff:7f00:1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::7f00:1"),
]  # fmt: skip
SPELLINGS = [
    *("127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1."),
    *("localhost.",),
    *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "①②⑦.⓪.⓪.①", "１２７.0.0.1"),
    *("127。0。0。1",),
    *("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "LOCALHOST", "[fe80::1%25eth0]", "[::]", "0"),
]  # fmt: skip


class Names:
    """A name server whose answers change, and a network that is not there. connected: whom somebody tried to reach."""

    def __init__(self, monkeypatch):
        self.answers, self.asked, self.connected = [], 0, []
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", self._resolve)
        monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", self._connect)

    async def _resolve(self, host, port, **_):
        addresses = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    async def _connect(self, host, *_args, **_more):
        self.connected.append(host)
        raise httpcore.ConnectError("there is no network")


@pytest.fixture
def names(monkeypatch):
    return Names(monkeypatch)


async def asked_of_a_provider(address):
    async with guarded_transport(allow_private=False) as transport:
        await Client(address, "", transport).complete(ChatRequest("m", ()))


@pytest.mark.parametrize("inwards", INWARDS)
async def test_what_was_public_once_is_looked_at_again(names, inwards):
    names.answers = [[PUBLIC], [inwards]]

    with pytest.raises(Unreachable):
        await asked_of_a_provider(f"http://{NAME}/v1")
    with pytest.raises(ForbiddenAddress):
        await asked_of_a_provider(f"http://{NAME}/v1")

    assert names.asked == 2, "each is resolved once, and that answer is the one that is used"
    assert names.connected == [PUBLIC]


@pytest.mark.parametrize("inwards", INWARDS)
async def test_of_several_answers_only_the_public_ones_are_tried(names, inwards):
    names.answers = [[inwards, PUBLIC, inwards]]

    with pytest.raises(Unreachable):
        await asked_of_a_provider(f"https://{NAME}/v1")

    assert set(names.connected) == {PUBLIC}


async def test_a_webhooks_name_is_looked_at_in_the_same_way(names):
    names.answers = [[PUBLIC], ["169.254.169.254"]]
    async with sending.client(allow_private=False, at_once=1) as client:
        with pytest.raises(Exception, match="no network"):
            await client.post(f"http://{NAME}/")
        with pytest.raises(ForbiddenAddress):
            await client.post(f"http://{NAME}/")

    assert names.connected == [PUBLIC]


@pytest.mark.parametrize("inwards", ["169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "0.0.0.0", "fe80::1"])
async def test_leave_for_the_labs_own_network_is_none_for_these(names, inwards):
    names.answers = [[inwards]]
    async with guarded_transport(allow_private=True) as transport:
        with pytest.raises(ForbiddenAddress):
            await Client(f"http://{NAME}/v1", "", transport).complete(ChatRequest("m", ()))

    assert names.connected == []


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_an_inner_address_gets_through(monkeypatch, spelling):
    """Resolved by the machine's own resolver: whatever it makes of them, nothing inner is connected to."""
    connected = []

    async def connect(_self, host, *_args, **_more):
        connected.append(host)
        raise httpcore.ConnectError("there is no network")

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    with pytest.raises((ForbiddenAddress, Unreachable, Refused)):
        await asked_of_a_provider(f"http://{spelling}/v1")

    assert [host for host in connected if not is_allowed(host, allow_private=False)] == []


def test_nothing_else_asks_the_network():
    """Whoever wants an HTTP client gets it where addresses are looked at; the operator names the sign-in server."""
    asking = {"requests", "urllib.request", "urllib3", "http.client", "aiohttp", "ftplib", "smtplib", "telnetlib"}
    files = [file for floor in ("accounts", "arenasite", "experiments", "leaderboard") for file in _files(floor)]
    found = {str(file.relative_to(ROOT)) for file in files if _imports(file) & asking}
    clients = {str(file.relative_to(ROOT)) for file in files if "httpx.AsyncClient(" in file.read_text()}

    assert found == {"accounts/oidc.py", "arenasite/supervisor/health.py"}
    assert clients == {"experiments/gateway/client.py", "experiments/webhooks/sending.py"}
    unguarded = [file for file in clients if "trust_env=False" not in (ROOT / file).read_text()]
    assert not unguarded, "a proxy would be asked instead"
    assert not [file for file in files if "follow_redirects=True" in file.read_text()]


def _files(floor):
    return (ROOT / floor).rglob("*.py")


def _imports(file):
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
