"""The formats in which a run is given out: what each is called, who writes it, and how it is sent."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, get_language_info, gettext_lazy, override
from django.utils.translation import gettext as _

from accounts.attachments import pieces_of, streamed, to_be_saved
from accounts.errors import NotFound
from accounts.models import User
from experiments.models import Export, Run, shared_files
from experiments.runs.reports.csv_export import table
from experiments.runs.reports.document import document, encoded, file_name, gathered, json_lines
from experiments.runs.reports.inspect_log import inspect_archive, inspect_log, log_name
from experiments.runs.reports.markdown import render_markdown
from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.pdf import render_pdf

Progress = Callable[[float], None]
Write = Callable[[Run, str, Progress], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Format:
    """write takes a run fetched by `with_totals`, a language, and a function that is called with how far it is, from 0
    to 1. named: what the file is called, unless by its workflow and start. is_streamed: it is written row by row, so
    that it need not be held as a whole.
    """

    name: str
    label: str | Promise
    content_type: str
    write: Write
    named: Callable[[Run], str] | None = None
    is_streamed: bool = False

    def chunks(self, run: Run, language: str, progress: Progress) -> Iterator[bytes]:
        return gathered(self.write(run, language, progress))

    def file_name(self, run: Run) -> str:
        return self.named(run) if self.named else file_name(run, self.name.partition("-")[0])


def render_html(run: Run, language: str) -> str:
    """The report of a run fetched by `with_totals`, as one HTML file: no script, nothing fetched from anywhere."""
    name, _hyphen, script = get_language_info(language)["code"].partition("-")
    tag = f"{name}-{script.title()}" if len(script) == 4 else get_language_info(language)["code"]  # zh-Hans
    report = narrate(run, language)
    with override(language):
        return render_to_string("reports/report.html", {"report": report, "language": tag})


def unheard(done: float) -> None:
    """The progress of files that nobody watches being made."""


def _html(run: Run, language: str, _progress: Progress) -> Iterable[bytes]:
    return [render_html(run, language).encode()]


def _html_of_link(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    """For whoever has the link, whoever has made it."""
    run.reader = None
    return _html(run, language, progress)


def _counted(lines: Callable[[Run], Iterator[bytes]], *relations: str) -> Write:
    """The lines, with the progress after each: there are about as many as the run has rows of these relations."""

    def write(run: Run, _language: str, progress: Progress) -> Iterator[bytes]:
        rows = 1 + sum(getattr(run, relation).count() for relation in relations)
        for number, line in enumerate(lines(run), 1):
            yield line
            progress(min(1.0, number / rows))

    return write


HTML, WEB_PAGE = "text/html; charset=utf-8", gettext_lazy("Web page")
MARKDOWN, JSON = "text/markdown; charset=utf-8", "application/json"
LISTS = ("messages", "judgments", "ballots", "cycles", "executions", "calls", "events")
REPORTS = {
    "html": Format("html", WEB_PAGE, HTML, _html),
    "pdf": Format("pdf", "PDF", "application/pdf", lambda *asked: [render_pdf(*asked)]),
    "md": Format("md", "Markdown", MARKDOWN, lambda run, language, *_asked: [render_markdown(run, language).encode()]),
    "json": Format("json", "JSON", JSON, lambda run, *_asked: [encoded(document(run))]),
}
EXPORTS = {
    "jsonl": Format("jsonl", "JSON Lines", "application/jsonl", _counted(json_lines, *LISTS), is_streamed=True),
    "csv": Format("csv", "CSV", "text/csv; charset=utf-8", _counted(table, "messages"), is_streamed=True),
    "inspect": Format(
        "inspect", gettext_lazy("Inspect log (JSON)"), JSON, lambda run, *_asked: [inspect_log(run)], log_name
    ),
    "eval": Format(
        "eval",
        gettext_lazy("Inspect log (.eval)"),
        "application/zip",
        lambda run, *_asked: [inspect_archive(run)],
        lambda run: log_name(run, "eval"),
    ),
}
FORMATS = REPORTS | EXPORTS
LINKED = Format("html-link", WEB_PAGE, HTML, _html_of_link)


def format_of(name: str) -> Format:
    """Also the one that nobody may ask for: what a link leads to."""
    return LINKED if name == LINKED.name else FORMATS[name]


def current_language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def visible_run(request: Any, pk: UUID) -> Run:
    """The run as its formats need it, for whoever asks. Raises Http404."""
    rows: Any = Run.objects.visible_to(request.user).with_totals().select_related("experiment__owner")
    run: Run = get_object_or_404(rows, pk=pk)
    return run


def run_response(request: HttpRequest, run: Run, format_: Format, language: str) -> HttpResponseBase:
    """The run in this format, as it is now."""
    run.reader = request.user if isinstance(request.user, User) else None
    chunks = format_.chunks(run, language, unheard)
    response = streamed(request, chunks) if format_.is_streamed else HttpResponse(b"".join(chunks))
    return to_be_saved(response, format_.content_type, format_.file_name(run))


def file_response(request: HttpRequest, export: Export) -> HttpResponseBase:
    """A file that was made. Raises NotFound."""
    try:
        pieces = pieces_of(shared_files.here(export.path))
    except FileNotFoundError as error:
        raise NotFound(_("The file was deleted. Request it again.")) from error
    response = to_be_saved(streamed(request, pieces), format_of(export.format).content_type, export.name)
    response["Content-Length"] = str(export.size)
    return response
