"""What the blocks of a report need beside their words."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from experiments.runs.markdown import to_html
from experiments.runs.reports.messages import percent
from experiments.runs.reports.report import Token

register = template.Library()

HEADING = re.compile(r"<(/?)h[1-6]>")


@register.filter
def said(text: str) -> SafeString:
    """Model-made Markdown; its headings stand below those of the report."""
    return mark_safe(HEADING.sub(r"<\1h4>", to_html(text)))  # noqa: S308 - sanitised by to_html


@register.filter
def beside(cells: Iterable[Any], columns: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Each cell with its column."""
    return list(zip(cells, columns, strict=True))


@register.filter
def marked(tokens: Iterable[Token]) -> SafeString:
    """Each token in the class of its band. There may be a hundred thousand: a template's loop would take too long."""
    spans = (
        f'<span class="{token.band}" title="{percent(token.probability)}">{escape(token.text)}</span>'
        for token in tokens
    )
    return mark_safe("".join(spans))  # noqa: S308 - escaped just above


@register.filter
def widths(columns: Iterable[Any]) -> list[str]:
    """Percentages of the width of a table."""
    shares = [column.share for column in columns]
    return [f"{100 * share / sum(shares):.1f}" for share in shares]
