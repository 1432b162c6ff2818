"""Who asks the API, and who opens a WebSocket: bearer tokens, hashed at rest, expiring, void as soon as their owner is
deactivated; for WebSockets also the session of a browser, from a page of this platform alone.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from django.utils.http import is_same_domain
from django.utils.translation import gettext as _
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import logs
from accounts.addresses import address_of
from accounts.factors import admitted
from accounts.models import ApiToken, User
from accounts.scopes import Scope
from accounts.tokens import note_use

Application = Callable[..., Awaitable[None]]


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]  # knox has no types
    """`Authorization: Bearer TOKEN`, as knox checks it, which takes for granted that a header is text."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        found: tuple[Any, Any] | None = super().authenticate(request)
        if found:
            note_use(found[1], address_of(request._request))
        return found

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        if not token.isascii() or b"\0" in token:
            raise AuthenticationFailed(_("Invalid token."))
        user, found = super().authenticate_credentials(token)
        logs.note(user=user.pk)
        return user, found

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Whether it has expired, and is no more. Knox fetches all others of its owner besides, with every request;
        `note_use` deletes those.
        """
        if auth_token.expiry is None or auth_token.expiry >= timezone.now():
            return False
        auth_token.delete()
        return True


class KeyHeaderAuthentication(BearerAuthentication):
    """The same token in `X-API-Key: TOKEN`, for clients that can send a key in no other way."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        token = request.META.get("HTTP_X_API_KEY", "").encode(errors="replace").strip()
        if not token:
            return None
        user, found = self.authenticate_credentials(token)
        note_use(found, address_of(request._request))
        return user, found


class SocketAuthentication:
    """Sets scope["user"]; scope["token"] is the digest of the token used, None for sessions. With a token that may not
    read, the user is anonymous. Where the platform is served over TLS, sockets are opened over TLS alone.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner
        self._by_session: Application = AuthMiddlewareStack(self._admit)  # type: ignore[assignment]  # channels and asgiref differ in how they type an application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        header = headers.get(b"authorization")
        is_refused = settings.HTTPS and headers.get(b"x-forwarded-proto") != b"https"
        if is_refused or (header is None and not _is_from_own_page(headers)):
            await send({"type": "websocket.close"})  # before it was accepted: 403
        elif header is None:
            await self._by_session(dict(scope, token=None), receive, send)
        else:
            user, digest = await database_sync_to_async(_owner)(header)
            await self._inner({**scope, "user": user, "token": digest}, receive, send)

    async def _admit(self, scope: Any, receive: Any, send: Any) -> None:
        """A person who has still to set up a second factor is let in to nothing."""
        user = await database_sync_to_async(admitted)(scope["user"])
        await self._inner({**scope, "user": user}, receive, send)


def _is_from_own_page(headers: dict[bytes, bytes]) -> bool:
    """Whether the page that opens the socket has the scheme, host and port of this request, or is of ARENA_ORIGINS: as
    Django checks the origin of forms. Cookies are sent for every port of a host, so the host alone proves nothing.
    """
    origin, host = (headers.get(name, b"").decode("latin-1").lower() for name in (b"origin", b"host"))
    if origin == f"{'https' if settings.HTTPS else 'http'}://{host}":
        domain, _port = split_domain_port(host)
        return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
    return any(_is_listed(origin, listed.lower()) for listed in settings.CSRF_TRUSTED_ORIGINS)


def _is_listed(origin: str, listed: str) -> bool:
    """listed: an origin, or `https://*.example.org` for every subdomain."""
    scheme, _, host = listed.partition("://*")
    if not host:
        return origin == listed
    given, _, domain = origin.partition("://")
    return given == scheme and is_same_domain(domain, host)


def _owner(header: bytes) -> tuple[User | AnonymousUser, str]:
    """Of a bearer token that may read, with the token's digest; else a visitor."""
    scheme, _, token = header.partition(b" ")
    try:
        if scheme.lower() != b"bearer":
            raise AuthenticationFailed
        user, found = BearerAuthentication().authenticate_credentials(token.strip())
    except AuthenticationFailed:
        return AnonymousUser(), ""
    if Scope.READ not in found.scopes:
        return AnonymousUser(), ""
    note_use(found, None)
    return user, found.digest
