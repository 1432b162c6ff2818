"""The formats in which a run is given out: what each is called, what it is, and who writes it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from experiments.models import Run
from experiments.runs.reports.csv_export import table
from experiments.runs.reports.document import document
from experiments.runs.reports.exports import encoded, gathered, json_lines
from experiments.runs.reports.html import render_html
from experiments.runs.reports.inspect_log import inspect_log, log_name
from experiments.runs.reports.markdown import render_markdown
from experiments.runs.reports.names import file_name
from experiments.runs.reports.pdf import render_pdf

Progress = Callable[[float], None]
Write = Callable[[Run, str, Progress], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Format:
    """write takes a run fetched by `with_totals`, a language, and whom to tell how far it is, from 0 to 1.

    is_streamed: it is written row by row, so that it need not be held as a whole.
    """

    name: str
    label: str | Promise
    content_type: str
    write: Write
    named: Callable[[Run], str]
    is_streamed: bool = False

    def chunks(self, run: Run, language: str, progress: Progress) -> Iterator[bytes]:
        return gathered(self.write(run, language, progress))


def unheard(done: float) -> None:
    """For files that nobody watches being made."""


def _html(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    return [render_html(run, language).encode()]


def _html_of_link(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    """For whoever has the link, whoever has made it."""
    run.reader = None
    return _html(run, language, progress)


def _pdf(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    return [render_pdf(run, language, progress)]


def _markdown(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    return [render_markdown(run, language).encode()]


def _json(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    return [encoded(document(run))]


def _inspect(run: Run, language: str, progress: Progress) -> Iterable[bytes]:
    return [inspect_log(run)]


def _counted(lines: Callable[[Run], Iterator[bytes]], relations: tuple[str, ...], *asked: Any) -> Iterator[bytes]:
    """The lines, saying after each how far it is: there are about as many as the run has rows of these relations."""
    run, _language, progress = asked
    rows = 1 + sum(getattr(run, relation).count() for relation in relations)
    for number, line in enumerate(lines(run), 1):
        yield line
        progress(min(1.0, number / rows))


_json_lines: Write = partial(
    _counted, json_lines, ("messages", "judgments", "ballots", "cycles", "executions", "calls", "events")
)
_table: Write = partial(_counted, table, ("messages",))


def _ending(extension: str) -> Callable[[Run], str]:
    return lambda run: file_name(run, extension)


REPORTS = {
    "html": Format("html", _("Web page"), "text/html; charset=utf-8", _html, _ending("html")),
    "pdf": Format("pdf", "PDF", "application/pdf", _pdf, _ending("pdf")),
    "md": Format("md", "Markdown", "text/markdown; charset=utf-8", _markdown, _ending("md")),
    "json": Format("json", "JSON", "application/json", _json, _ending("json")),
}
EXPORTS = {
    "jsonl": Format("jsonl", "JSON Lines", "application/jsonl", _json_lines, _ending("jsonl"), is_streamed=True),
    "csv": Format("csv", "CSV", "text/csv; charset=utf-8", _table, _ending("csv"), is_streamed=True),
    "inspect": Format("inspect", _("Inspect log"), "application/json", _inspect, log_name),
}
FORMATS = REPORTS | EXPORTS
LINKED = Format("html-link", _("Web page"), "text/html; charset=utf-8", _html_of_link, _ending("html"))


def format_of(name: str) -> Format:
    """Also the one that nobody may ask for: what a link leads to."""
    return LINKED if name == LINKED.name else FORMATS[name]
