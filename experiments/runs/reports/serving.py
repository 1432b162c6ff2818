"""Reports and exports as answers: written for this request, or read from a file that was made."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from accounts.attachments import pieces_of, streamed, to_be_saved
from accounts.errors import NotFound
from accounts.models import User
from experiments.models import Export, Run
from experiments.runs.reports.formats import Format, format_of, unheard


def of_run(request: HttpRequest, run: Run, format_: Format, language: str) -> HttpResponseBase:
    """The run in this format, as it is now."""
    run.reader = request.user if isinstance(request.user, User) else None
    chunks = format_.chunks(run, language, unheard)
    response = streamed(request, chunks) if format_.is_streamed else HttpResponse(b"".join(chunks))
    return to_be_saved(response, format_.content_type, format_.named(run))


def of_file(request: HttpRequest, export: Export) -> HttpResponseBase:
    """A file that was made. Raises NotFound."""
    try:
        pieces = pieces_of(export.path)
    except FileNotFoundError as error:
        raise NotFound(_("The file was removed: ask for it again.")) from error
    response = to_be_saved(streamed(request, pieces), format_of(export.format).content_type, export.name)
    response["Content-Length"] = str(export.size)
    return response
