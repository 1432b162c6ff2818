"""Views of a package that tell what they did by a signal: the deed and its record are committed together."""

from collections.abc import Iterable

from django.db import transaction
from django.urls import URLPattern, URLResolver


def each(patterns: Iterable[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The same addresses, each of whose views is one transaction."""
    return [_wrapped(one) for one in patterns]


def _wrapped(one: URLPattern | URLResolver) -> URLPattern | URLResolver:
    if isinstance(one, URLResolver):
        return URLResolver(one.pattern, each(one.url_patterns), one.default_kwargs, one.app_name, one.namespace)
    return URLPattern(one.pattern, transaction.atomic(one.callback), one.default_args, one.name)
