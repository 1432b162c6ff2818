"""The files in which a board's battles are given away."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from experiments.models import Board
from experiments.workflows.battles.campaign.logs.exporting import audit_lines, full_lines, slim_lines
from experiments.workflows.battles.campaign.logs.packing import zipped

LINES = "application/x-ndjson; charset=utf-8"


class Format(NamedTuple):
    """chunks: of a board, and of one of its subsets where one is asked for (the zip holds them all)."""

    name: str
    title: StrPromise
    content_type: str
    ending: str
    chunks: Callable[[Board, str | None], Iterator[bytes]]

    def named(self, board: Board) -> str:
        return f"{board.slug}{self.ending}"


FORMATS = {
    format_.name: format_
    for format_ in (
        Format("slim", _("results (slim log)"), LINES, ".jsonl", slim_lines),
        Format("audit", _("results with the judge's words (audit log)"), LINES, "-audit.jsonl", audit_lines),
        Format("full", _("every battle with all that is known"), LINES, "-full.jsonl", full_lines),
        Format(
            "zip", _("logs by experiment and pair"), "application/zip", ".zip", lambda board, _subset: zipped(board)
        ),
    )
}
