"""Inputs of forms, icons, and the joining of lines. Every template has them without a `load`: they are built in."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from django import template
from django.forms import BaseForm, BoundField
from django.template.base import Node, NodeList, Parser, TextNode, Token
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
ICONS = tomllib.loads(Path(__file__).with_name("icons.toml").read_text(encoding="utf-8"))


@register.simple_tag
def control(form: BaseForm, name: str, described_by: str = "", **attributes: Any) -> SafeString:
    """The input of a field, tied to its hint and to its errors. Underscores in attribute names become dashes."""
    bound = form[name]
    ids = " ".join(filter(None, [described_by, error_id(bound) if bound.errors else ""]))
    given = {key.replace("_", "-"): value for key, value in attributes.items()}
    if ids:  # Django would name only its own help text; our hints and errors come from the template
        given["aria-describedby"] = ids
    if bound.errors:
        given.setdefault("aria-invalid", "true")
    return bound.as_widget(attrs=given)


@register.simple_tag
def errors(bound: BoundField | Literal[""]) -> SafeString:
    """What is wrong with a field; nothing where the form has no such field."""
    if not bound or not bound.errors:
        return SafeString()
    said = format_html_join("", "<span>{}</span>", ([error] for error in bound.errors))
    return format_html('<span class="field-error" id="{}">{}</span>', error_id(bound), said)


@register.filter
def error_id(bound: BoundField) -> str:
    return f"{bound.auto_id}-error"  # `id_for_label` is empty for radio buttons


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """A 16 px drawing beside a word; never a sign by itself."""
    return drawing(ICONS[name], f"icon icon-{name}")


@register.simple_tag
def drawing(inside: str, class_: str = "icon") -> SafeString:
    """A 16 px drawing that a workflow brings."""
    return format_html(
        '<svg class="{}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{}</svg>',
        class_,
        mark_safe(inside),  # noqa: S308 - a drawing of ours, or of an installed workflow
    )


class OneLine(Node):
    """What stands between `{% oneline %}` and `{% endoneline %}`, drawn as if it had been written in one line."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        return self.nodelist.render(context)


@register.tag
def oneline(parser: Parser, token: Token) -> OneLine:
    """Leave out line breaks with the indentation after them, where white space would show; in an HTML tag, one space
    stays. They are left out as the template is read, so drawing costs nothing more. What is included, and what values
    hold, keeps its lines.
    """
    nodelist = parser.parse(("endoneline",))
    parser.delete_first_token()
    is_in_tag = False
    for node in cast("list[TextNode]", nodelist.get_nodes_by_type(TextNode)):
        parts = re.split("([<>])", node.s)
        for number, part in enumerate(parts):
            is_in_tag = part == "<" or (is_in_tag and part != ">")
            parts[number] = re.sub(r"\s*\n\s*", " " if is_in_tag else "", part)
        node.s = "".join(parts)
    return OneLine(nodelist)
