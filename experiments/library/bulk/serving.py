"""A bulk export as an answer, read from the disk piece by piece."""

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponseBase

from accounts.attachments import pieces_of, streamed, to_be_saved
from experiments.library.bulk import making
from experiments.library.bulk.formats import FORMATS
from experiments.models import BulkExport

if TYPE_CHECKING:
    from accounts.models import User


def of(request: HttpRequest, row: BulkExport, *, by: "User") -> HttpResponseBase:
    """Raises Forbidden and NotFound."""
    path = making.take(row, by=by)
    response = to_be_saved(streamed(request, pieces_of(path)), FORMATS[row.format].content_type, row.name)
    response["Content-Length"] = str(row.size)
    return response
