"""Connections that go only to addresses which the administrator allows, checked at the moment of connecting."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Iterable
from functools import cache

import httpcore
import httpx

from experiments.gateway.errors import ForbiddenAddress

_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7"),
    )
)
# Addresses that carry an IPv4 address inside and would lead around a check of the outer one.
_EMBEDDING = tuple(
    map(ipaddress.ip_network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
# Addresses that look public or private, and are services of clouds, with secrets of the machine that asks, or relays.
_OF_CLOUDS = tuple(
    map(
        ipaddress.ip_network,
        ("168.63.129.16/32", "100.100.100.200/32", "192.0.0.0/24", "192.88.99.0/24", "fd00:ec2::254/128", "fec0::/10"),
    )
)
MAX_CONNECTIONS = 500
MAX_IDLE_CONNECTIONS = 100
IDLE_SECONDS = 30.0


def is_allowed(address: str, *, allow_private: bool) -> bool:
    """Whether an IP address may be connected to.

    allow_private adds the lab's own networks, loopback and carrier-grade NAT. Link-local (where clouds keep their
    metadata), multicast, reserved and IPv4-embedding addresses stay forbidden, and so do those of clouds' own services.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if any(ip in network for network in _OF_CLOUDS):
        return False
    if any(ip in network for network in _PRIVATE):
        return allow_private
    if ip.is_multicast or ip.is_reserved or ip.is_link_local or ip.is_unspecified:
        return False
    return ip.is_global and not any(ip in network for network in _EMBEDDING)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name once, checks what came out and connects to exactly that: a second answer of the name server
    (DNS rebinding) has no effect. TLS still verifies the name."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve(host, port)
                return await self._connect_first(addresses, port, local_address, socket_options)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"no connection to {host} within {timeout} s") from error

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name {host} could not be resolved: {error}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        allowed = [address for address in addresses if is_allowed(address, allow_private=self._allow_private)]
        if not allowed:
            raise ForbiddenAddress(
                f"{host} leads to {', '.join(addresses) or 'no address'}, which is no public address. An administrator "
                "can allow private addresses for this provider; link-local and reserved ones are never used."
            )
        return allowed

    async def _connect_first(
        self,
        addresses: list[str],
        port: int,
        local_address: str | None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None,
    ) -> httpcore.AsyncNetworkStream:
        for address in addresses[:-1]:
            try:
                # A name with a dead first address (IPv6 without a route) must not use up the whole time.
                return await self._backend.connect_tcp(address, port, 2.0, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._backend.connect_tcp(addresses[-1], port, None, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@cache
def _tls_context() -> ssl.SSLContext:
    """One for the process: reading the certificates takes 20 ms."""
    context = httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # some builds of Python leave it to the system
    return context


class GuardedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over a pool with our own network backend, for which httpx has no parameter."""

    def __init__(self, *, allow_private: bool, max_connections: int, max_idle: int, idle_seconds: float) -> None:
        self.allow_private = allow_private
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls_context(),
            max_connections=max_connections,
            max_keepalive_connections=max_idle,
            keepalive_expiry=idle_seconds,
            network_backend=GuardedBackend(allow_private=allow_private),
        )


def guarded_transport(
    *,
    allow_private: bool,
    max_connections: int = MAX_CONNECTIONS,
    max_idle: int = MAX_IDLE_CONNECTIONS,
    idle_seconds: float = IDLE_SECONDS,
) -> httpx.AsyncHTTPTransport:
    """A transport to be shared by clients and closed by the caller. Raises ForbiddenAddress when connecting."""
    return GuardedTransport(
        allow_private=allow_private, max_connections=max_connections, max_idle=max_idle, idle_seconds=idle_seconds
    )
