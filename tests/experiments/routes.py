"""The addresses of the platform, for tests that leave none of them out."""

from collections.abc import Iterable, Iterator

from django.urls import URLPattern, URLResolver, get_resolver


def routes() -> Iterator[str]:
    """Every route as it is written, from the root on: `runs/<uuid:pk>/`."""
    return _below(get_resolver().url_patterns, "")


def _below(patterns: Iterable[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _below(pattern.url_patterns, route)
