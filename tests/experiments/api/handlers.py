"""Every handler of the API, found by walking the addresses."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("get", "post", "put", "patch", "delete")


class Handler(NamedTuple):
    """method: in small letters. does: the function that answers."""

    name: str
    route: str
    method: str
    view: Any
    does: Any

    @property
    def changes(self) -> bool:
        return self.method != "get"


def handlers() -> Iterator[Handler]:
    for name, route, callback in _below(get_resolver().url_patterns, ""):
        view = getattr(callback, "cls", None)
        if view is None or not route.startswith("api/") or "drf_format_suffix" in route:
            continue
        actions = getattr(callback, "actions", None) or {m: m for m in METHODS if hasattr(view, m)}
        for method, function in actions.items():
            if method in METHODS:
                yield Handler(name, route, method, view, getattr(view, function))


def _below(patterns: Any, prefix: str) -> Iterator[tuple[str, str, Any]]:
    for pattern in patterns:
        route = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLPattern):
            yield pattern.name or "", route, pattern.callback
        elif isinstance(pattern, URLResolver):
            yield from _below(pattern.url_patterns, route)
