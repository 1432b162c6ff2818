"""Files as answers: streamed, saved rather than shown, and harmless if somebody shows them all the same."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

PIECE = 1 << 18  # bytes
HARMLESS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
Response = TypeVar("Response", bound=HttpResponseBase)


def streamed(request: HttpRequest, chunks: Iterator[bytes]) -> StreamingHttpResponse:
    return StreamingHttpResponse(_pulled(chunks) if isinstance(request, ASGIRequest) else chunks)


def to_be_saved(response: Response, content_type: str, name: str) -> Response:
    """The same response, as a file that is called so."""
    response["Content-Type"] = content_type
    response["Content-Disposition"] = content_disposition_header(True, name)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = HARMLESS
    response["Cache-Control"] = "private, no-store"
    return response


def pieces_of(path: Path) -> Iterator[bytes]:
    """What is in a file. Raises FileNotFoundError at once. Whoever reads it slowly keeps no connection to the database
    from others meanwhile.
    """
    return _read(path.open("rb"))


def _read(opened: IO[bytes]) -> Iterator[bytes]:
    if not connection.in_atomic_block:
        connection.close()
    with opened as file:
        while piece := file.read(PIECE):
            yield piece


async def _pulled(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """One chunk at a time: under ASGI Django would gather an ordinary iterator as a whole before it sends a byte."""
    pull = sync_to_async(lambda: next(chunks, None))
    while (chunk := await pull()) is not None:
        yield chunk
