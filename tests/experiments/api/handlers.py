"""Every route of the platform and every handler of the API, found by walking the addresses."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, get_resolver

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


def routes(patterns: Any = None, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every route of a page or an endpoint: its whole address, and the pattern."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        address = f"{before}{one.pattern}"
        if isinstance(one, URLPattern):
            yield address, one
        else:
            yield from routes(one.url_patterns, address)


def handlers() -> Iterator[Handler]:
    for route, one in routes():
        view = getattr(one.callback, "cls", None)
        if view is None or not route.startswith("api/") or "drf_format_suffix" in route:
            continue
        actions = getattr(one.callback, "actions", None) or {m: m for m in METHODS if hasattr(view, m)}
        for method, function in actions.items():
            if method in METHODS:
                yield Handler(one.name or "", route, method, view, getattr(view, function))
