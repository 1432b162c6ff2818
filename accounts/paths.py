"""Paths of requests as others may read them: in some of them a part is a secret, such as a link that was shared."""

from typing import Any
from uuid import UUID


def shown_path(request: Any) -> str:
    """The path, as long as nothing but ids is in it; otherwise the route that it was found by. Never what was asked
    for beside it (`?…`).
    """
    match = getattr(request, "resolver_match", None)
    if match is None or all(isinstance(value, int | UUID) for value in match.kwargs.values()):
        return str(request.path)
    return f"/{match.route}"


def route_of(request: Any) -> str:
    """The name of a request's address; one of as many as there are addresses."""
    match = getattr(request, "resolver_match", None)
    return (match.view_name if match else None) or "unknown"
