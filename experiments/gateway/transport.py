"""Carries httpx's requests over aiohttp, which takes much less processor time than httpcore for each piece of a stream.
Connections go only to addresses that the administrator allows, checked at the moment of connecting.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from functools import cache

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from experiments.gateway.addresses import is_allowed
from experiments.gateway.errors import ForbiddenAddress

IDLE_SECONDS = 30.0
MANY_STREAMS, GATHER_SECONDS = 30, 0.1  # from so many on, pieces are left to gather for so long
_AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # headers that aiohttp adds by itself
_FAILURES = (aiohttp.ClientError, OSError, ValueError)  # ValueError: a header that cannot be sent


class _Resolver(AbstractResolver):
    """Resolves a name for each connection, checks what came out, and lets it be connected to exactly that: a second
    answer of the name server (DNS rebinding) has no effect. TLS still verifies the name."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        except UnicodeError as error:
            raise OSError(None, f"the name {host} could not be resolved: {error}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        allowed = [address for address in addresses if is_allowed(address, allow_private=self._allow_private)]
        if not allowed:
            raise _forbidden(host, ", ".join(addresses) or "no address")
        return [
            ResolveResult(hostname=host, host=one, port=port, family=_family(one), proto=0, flags=socket.AI_NUMERICHOST)
            for one in allowed
        ]

    async def close(self) -> None:
        pass


class _Body(httpx.AsyncByteStream):
    """The body in the pieces in which it arrives. Where its transport has many, what arrives, an end included, waits in
    the system's buffer and is read at once: a large piece takes little more processor time than a small one.
    """

    def __init__(self, answer: aiohttp.ClientResponse, beside: set["_Body"]) -> None:
        self._answer, self._beside = answer, beside
        beside.add(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._answer.content
        try:
            while data := await content.readany():
                yield data
                if len(self._beside) >= MANY_STREAMS and not content.is_eof():
                    await self._gather()
        except _FAILURES as error:
            raise _translated(error) from error

    async def _gather(self) -> None:
        connection = self._answer.connection
        if connection is None or connection.transport is None:
            return
        transport = connection.transport
        transport.pause_reading()
        try:
            await asyncio.sleep(gathering_seconds(asyncio.get_running_loop().time()))
        finally:
            transport.resume_reading()

    async def aclose(self) -> None:
        self._answer.close()  # a connection whose answer was read to its end has been given back already
        self._beside.discard(self)


def gathering_seconds(now: float) -> float:
    """Until what has arrived is read, which is the same moment for all streams. now: the loop's time."""
    return GATHER_SECONDS - now % GATHER_SECONDS


class GuardedTransport(httpx.AsyncBaseTransport):
    """Belongs to one asyncio loop, that of its first request."""

    def __init__(self, *, allow_private: bool, max_connections: int, keeps_connections: bool) -> None:
        self.allow_private = allow_private
        self._max_connections, self._keeps_connections = max_connections, keeps_connections
        self._session: aiohttp.ClientSession | None = None
        self._bodies: set[_Body] = set()  # that are open

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        seconds = request.extensions.get("timeout", {})
        timeout = aiohttp.ClientTimeout(
            connect=seconds.get("pool"), sock_connect=seconds.get("connect"), sock_read=seconds.get("read")
        )
        try:
            answer = await self._opened().request(
                request.method,
                URL(str(request.url.copy_with(userinfo=b"")), encoded=True),  # httpx has made a header of it
                headers=request.headers.multi_items(),
                data=await request.aread() or None,
                timeout=timeout,
                allow_redirects=False,
            )
        except _FAILURES as error:
            raise _translated(error) from error
        return httpx.Response(answer.status, headers=answer.raw_headers, stream=_Body(answer, self._bodies))

    def _opened(self) -> aiohttp.ClientSession:
        """Made in the loop that it belongs to. Nothing is unpacked, cut off or asked again by itself."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                ssl=tls_context(),
                resolver=_Resolver(allow_private=self.allow_private),
                use_dns_cache=False,
                socket_factory=self._socket,
                limit=self._max_connections,
                **({"keepalive_timeout": IDLE_SECONDS} if self._keeps_connections else {"force_close": True}),
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_AUTOMATIC,
                auto_decompress=False,
            )
        return self._session

    def _socket(self, where: aiohttp.AddrInfoType) -> socket.socket:
        """For every connection, also to an address in the URL, for which no name is resolved."""
        family, kind, protocol, _, (host, *_more) = where
        if not is_allowed(str(host), allow_private=self.allow_private):
            raise _forbidden(str(host), str(host))
        return socket.socket(family, kind, protocol)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


@cache
def tls_context() -> ssl.SSLContext:
    """One for the process: reading the certificates takes 20 ms."""
    context = httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # some builds of Python leave it to the system
    context.set_alpn_protocols(["http/1.1"])
    return context


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _forbidden(host: str, where: str) -> ForbiddenAddress:
    return ForbiddenAddress(
        f"{host} leads to {where}, which is no public address. An administrator can allow private addresses for this "
        "provider; link-local and reserved ones are never used."
    )


def _translated(error: Exception) -> Exception:
    """httpx's error for one of aiohttp's."""
    words = str(error) or type(error).__name__
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(words)
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(words)
        case TimeoutError():
            return httpx.ReadTimeout(words)
        case aiohttp.NonHttpUrlClientError():
            return httpx.UnsupportedProtocol(words)
        case aiohttp.InvalidURL():
            return httpx.InvalidURL(words)
        case aiohttp.ClientConnectionResetError():
            return httpx.WriteError(words)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(words)
        case OSError():
            return httpx.ReadError(words)
    return httpx.LocalProtocolError(words)
