"""Who opens a WebSocket: a browser by its session, from a page of this platform alone; a program by its bearer token in
the header. Where the platform is served over TLS, over TLS alone."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain
from rest_framework.exceptions import AuthenticationFailed

from accounts.authentication import BearerAuthentication
from accounts.factors import admitted
from accounts.models import User
from accounts.scopes import Scope
from accounts.tokens import note_use

Application = Callable[..., Awaitable[None]]


class SocketAuthentication:
    """Sets scope["user"]; scope["token"] is the digest of the token used, None for sessions. With a token that may not
    read, the user is anonymous.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner
        self._by_session: Application = AuthMiddlewareStack(_Admission(inner))  # type: ignore[assignment]  # channels and asgiref differ in how they type an application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        header = headers.get(b"authorization")
        is_refused = settings.HTTPS and headers.get(b"x-forwarded-proto") != b"https"
        if is_refused or (header is None and not _is_from_own_page(headers)):
            await send({"type": "websocket.close"})  # before it was accepted: 403
            return
        if header is None:
            await self._by_session(dict(scope, token=None), receive, send)
            return
        user, digest = await _owner(header)
        await self._inner({**scope, "user": user, "token": digest}, receive, send)


class _Admission:
    """Whoever has still to set up a second factor is let in to nothing."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._inner({**scope, "user": await database_sync_to_async(admitted)(scope["user"])}, receive, send)


def _is_from_own_page(headers: dict[bytes, bytes]) -> bool:
    """Whether the page that opens the socket has the scheme, host and port of this request, or is of ARENA_ORIGINS: as
    Django checks the origin of forms. Cookies are sent for every port of a host, so the host alone proves nothing.
    """
    origin, host = (headers.get(name, b"").decode("latin-1").lower() for name in (b"origin", b"host"))
    domain, _port = split_domain_port(host)
    if origin == f"{'https' if settings.HTTPS else 'http'}://{host}":
        return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
    return any(_is_listed(origin, listed.lower()) for listed in settings.CSRF_TRUSTED_ORIGINS)


def _is_listed(origin: str, listed: str) -> bool:
    """listed: an origin, or `https://*.example.org` for every subdomain."""
    scheme, _, host = listed.partition("://*")
    if not host:
        return origin == listed
    given, _, domain = origin.partition("://")
    return given == scheme and is_same_domain(domain, host)


@database_sync_to_async
def _owner(header: bytes) -> tuple[User | AnonymousUser, str]:
    scheme, _, token = header.partition(b" ")
    if scheme.lower() != b"bearer":
        return AnonymousUser(), ""
    try:
        user, found = BearerAuthentication().authenticate_credentials(token.strip())
    except AuthenticationFailed:
        return AnonymousUser(), ""
    if Scope.READ not in found.scopes:
        return AnonymousUser(), ""
    note_use(found, None)
    return user, found.digest
