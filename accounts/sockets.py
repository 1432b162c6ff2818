"""Who opens a WebSocket: a browser by its session (origin checked), a program by its bearer token in the header;
where the platform is served over TLS, over TLS alone."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from rest_framework.exceptions import AuthenticationFailed

from accounts.authentication import BearerAuthentication
from accounts.factors import admitted
from accounts.models import User
from accounts.scopes import Scope
from accounts.tokens import note_use

Application = Callable[..., Awaitable[None]]


class Door:
    """Sets scope["user"]; scope["token"] is the digest of the token used, None for sessions. A token that may not read
    is nobody's.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner
        self._by_session = AllowedHostsOriginValidator(AuthMiddlewareStack(_Admission(inner)))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        if settings.HTTPS and headers.get(b"x-forwarded-proto") != b"https":
            await send({"type": "websocket.close"})  # before it was accepted: 403
            return
        header = headers.get(b"authorization")
        if header is None:
            await self._by_session(dict(scope, token=None), receive, send)  # type: ignore[arg-type]  # channels and asgiref differ in how they type an application
            return
        user, digest = await _owner(header)
        await self._inner({**scope, "user": user, "token": digest}, receive, send)


class _Admission:
    """Whoever has still to set up a second factor is let in to nothing."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._inner({**scope, "user": await database_sync_to_async(admitted)(scope["user"])}, receive, send)


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
