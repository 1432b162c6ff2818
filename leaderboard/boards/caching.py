"""What is computed or rendered once per state of a ladder, and then served from a cache."""

import hashlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.messages import get_messages
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

KEPT_SECONDS = 6 * 3600
STARTED = time.time()  # a newer version of this program writes other pages

T = TypeVar("T")


def memoize(name: str, key: Any, make: Callable[[], T]) -> T:
    """What `make` gave for this key before, in this process, or what it gives now. The key's `repr` says it all."""
    place = f"{name}:{hashlib.sha256(repr(key).encode()).hexdigest()}"
    found: T | None = caches["memory"].get(place)
    if found is None:
        found = make()
        caches["memory"].set(place, found, KEPT_SECONDS)
    return found


def conditional_response(request: HttpRequest, state: str, respond: Callable[[], HttpResponse]) -> HttpResponse:
    """304 for a reader who has this page in this state, else what `respond` gives, with its ETag.

    The page of another user, in another language or theme, or with a notice on it, is another page; so is one whose
    forms were written for another sign-in, which would be refused.
    """
    if len(get_messages(request)):
        return respond()
    cookies = [request.COOKIES.get(name, "") for name in (settings.THEME_COOKIE_NAME, settings.CSRF_COOKIE_NAME)]
    said = (STARTED, state, request.get_full_path(), request.user.pk, get_language(), cookies)
    etag = f'"{hashlib.sha256(repr(said).encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") and (kept := get_conditional_response(request, etag=etag)):
        response = HttpResponse(status=kept.status_code)
    else:
        response = respond()
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Cookie", "Accept-Language"])
    return response


def cached_fragment(template: str, key: Any, context: Callable[[], dict[str, object]]) -> SafeString:
    """A fragment of a page that is the same for all users, rendered once per key and language."""
    text = memoize(template, (STARTED, key, get_language()), lambda: str(render_to_string(template, context())))
    return mark_safe(text)  # noqa: S308 - a rendered template
