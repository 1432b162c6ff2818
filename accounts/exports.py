"""Files that were taken away, in the audit record."""

import re

from django.http import HttpRequest, HttpResponse

from accounts import audit

NAMED = re.compile(r"filename\*?=(?:utf-8'')?\"?([^\";]+)", re.IGNORECASE)
PLACE = re.compile(r"^/(?:api/)?(?:lab/)?(?P<kind>[\w-]+)/(?P<id>[\w-]+)/")
KINDS: dict[str, str] = {}  # "runs" in an address -> "run" in the audit record


def name_kinds(**kinds: str) -> None:
    """Called at start by the apps whose pages are exported: `runs="run"` makes `/runs/7/…` the target `run:7`."""
    KINDS.update(kinds)


def record(request: HttpRequest, response: HttpResponse) -> None:
    """name: of the file. target: the item that the address names."""
    found = NAMED.search(response["Content-Disposition"])
    name = found[1] if found else request.path
    audit.record(audit.Action.EXPORTED, by=request.user, target=_target(request.path), name=name, path=request.path)


def _target(path: str) -> str:
    """`run:0190…`, as other deeds name it; "" where the address names no one thing."""
    place = PLACE.match(path)
    return f"{KINDS.get(place['kind'], place['kind'])}:{place['id']}" if place else ""
