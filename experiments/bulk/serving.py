"""A bulk export as an answer, read from the disk piece by piece."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponseBase

from accounts.attachments import streamed, to_be_saved
from experiments.bulk import making
from experiments.bulk.formats import FORMATS
from experiments.models import BulkExport

if TYPE_CHECKING:
    from accounts.models import User

CHUNK = 1 << 18


def of(request: HttpRequest, row: BulkExport, *, by: "User") -> HttpResponseBase:
    """Raises NotAllowed and FileNotFoundError."""
    path = making.take(row, by=by)
    response = to_be_saved(streamed(request, _read(path)), FORMATS[row.format].content_type, row.name)
    response["Content-Length"] = str(row.size)
    return response


def _read(path: Path) -> Generator[bytes, None, None]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
