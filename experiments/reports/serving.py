"""Files as answers: streamed, saved rather than shown, and harmless if somebody shows them all the same."""

from collections.abc import AsyncIterator, Generator, Iterator
from itertools import chain
from pathlib import Path

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from experiments.models import Export, Run
from experiments.reports.formats import FORMATS, Format, unheard

CHUNK = 1 << 16
HARMLESS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"


def of_run(request: HttpRequest, run: Run, format_: Format, language: str) -> HttpResponseBase:
    """The run in this format, as it is now."""
    chunks = format_.chunks(run, language, unheard)
    if not format_.is_streamed:
        return _to_be_saved(HttpResponse(b"".join(chunks)), format_, format_.named(run))
    return _to_be_saved(_streamed(request, chunks), format_, format_.named(run))


def of_file(request: HttpRequest, export: Export) -> HttpResponseBase:
    """A file that was made. Raises FileNotFoundError."""
    chunks = _read(export.path)
    first = next(chunks, b"")
    response = _to_be_saved(_streamed(request, chain([first], chunks)), FORMATS[export.format], export.name)
    response["Content-Length"] = str(export.size)
    return response


def _streamed(request: HttpRequest, chunks: Iterator[bytes]) -> StreamingHttpResponse:
    return StreamingHttpResponse(_pulled(chunks) if isinstance(request, ASGIRequest) else chunks)


def _to_be_saved(response: HttpResponseBase, format_: Format, name: str) -> HttpResponseBase:
    response["Content-Type"] = format_.content_type
    response["Content-Disposition"] = content_disposition_header(True, name)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = HARMLESS
    response["Cache-Control"] = "private, no-store"
    return response


async def _pulled(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """One chunk at a time: under ASGI Django would gather an ordinary iterator as a whole before it sends a byte."""
    while (chunk := await sync_to_async(_next)(chunks)) is not None:
        yield chunk


def _next(chunks: Iterator[bytes]) -> bytes | None:
    return next(chunks, None)


def _read(path: Path) -> Generator[bytes, None, None]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
