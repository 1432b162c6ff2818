"""A report as a PDF: A4, with bookmarks and page numbers, its fonts inside."""

import io
from collections.abc import Callable
from typing import Any

from django.utils.translation import get_language_info, override
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate

from experiments.models import Run
from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.pdf_blocks import MUTED, Builder
from experiments.runs.reports.pdf_fonts import Typefaces
from experiments.runs.reports.pdf_text import color
from experiments.runs.reports.report import Report

MARGIN, BOTTOM = 48.0, 54.0
NUMBERS = "0123456789/ "
MAKER = "Arena Lab"
PAGES = "number-of-pages"
TOLD, BUILT, CUT = 0.1, 0.15, 0.25  # shares of the work that are done when each is
FOOTER_SIZE = 7.5


def _ignore(_share: float) -> None:
    pass


def render_pdf(run: Run, language: str, progress: Callable[[float], None] = _ignore) -> bytes:
    """The report of a run fetched by `with_totals`. progress: told shares of the work done, 0 to 1, rising."""
    report = narrate(run, language)
    progress(TOLD)
    with override(language):
        return draw(report, get_language_info(language)["code"], progress)


def draw(report: Report, language: str, progress: Callable[[float], None] = _ignore) -> bytes:
    """The PDF of a report in this language."""
    faces = Typefaces()
    story = list(Builder(faces).story(report))
    pages = _Pages(faces, report)
    progress(BUILT)
    with faces.cut():
        progress(CUT)
        return _laid_out(story, pages, language, progress)


def _laid_out(story: list[Flowable], pages: "_Pages", language: str, progress: Callable[[float], None]) -> bytes:
    file, total = io.BytesIO(), len(story)
    document = BaseDocTemplate(
        file,
        pagesize=A4,
        title=pages.title,
        subject=pages.subject,
        author="Arena Lab",
        creator="Arena Lab",
        lang=language,
    )
    width, height = A4
    frame = Frame(MARGIN, BOTTOM, width - 2 * MARGIN, height - MARGIN - BOTTOM, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate("page", [frame], onPage=pages.foot))

    def on_progress(kind: str, value: Any) -> None:
        if kind == "PROGRESS" and total:
            progress(min(1.0, CUT + (1 - CUT) * value / total))

    document.setProgressCallBack(on_progress)
    document.build(story, canvasmaker=pages.canvas)
    progress(1.0)
    return file.getvalue()


class _Pages:
    """What stands on every page. How many there are is known at the end: it is a form that is filled in then."""

    def __init__(self, faces: Typefaces, report: Report) -> None:
        self._faces = faces
        self.title, self.subject = report.title, report.subject
        self._footer = faces.need("regular", report.footer)
        faces.need("regular", NUMBERS)

    def foot(self, canvas: Any, _document: Any) -> None:
        width, _height = A4
        all_pages = self._faces.width("regular", FOOTER_SIZE, "/ 0000")
        canvas.setFillColor(color(MUTED))
        canvas.setFont(self._faces.name("regular"), FOOTER_SIZE)
        canvas.drawString(MARGIN, BOTTOM - 24, self._footer)
        canvas.drawRightString(width - MARGIN - all_pages, BOTTOM - 24, f"{canvas.getPageNumber()} ")
        canvas.saveState()
        canvas.translate(width - MARGIN - all_pages, BOTTOM - 24)
        canvas.doForm(PAGES)
        canvas.restoreState()

    def canvas(self, file: Any, **options: Any) -> Canvas:
        canvas = _Counting(file, **{**options, "initialFontName": self._faces.name("regular")})
        canvas.at_the_end = self._fill_in
        canvas.showOutline()
        return canvas

    def _fill_in(self, canvas: Canvas) -> None:
        canvas.beginForm(PAGES)
        canvas.setFillColor(color(MUTED))
        canvas.setFont(self._faces.name("regular"), FOOTER_SIZE)
        canvas.drawString(0, 0, f"/ {canvas.getPageNumber() - 1}")
        canvas.endForm()


class _Counting(Canvas):  # type: ignore[misc]  # reportlab has no types
    """A canvas that does one more thing before it is saved."""

    at_the_end: Callable[[Canvas], None]

    def save(self) -> None:
        self.at_the_end(self)
        super().save()
