"""The usual inputs of forms, drawn without a template: a page has hundreds of them, and Django's take up to three
templates each.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

Widget = Mapping[str, Any]


class FormRenderer(DjangoTemplates):
    """Says of inputs, selects and text areas what Django's templates say, byte by byte, and leaves the rest to them."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        if draw := DRAWN.get(template_name):
            return draw(context["widget"])
        return super().render(template_name, context, request)


def _input(widget: Widget) -> SafeString:
    value = "" if widget["value"] is None else f' value="{conditional_escape(widget["value"])}"'
    opened = f'<input type="{conditional_escape(widget["type"])}" name="{conditional_escape(widget["name"])}"'
    return _markup(f"{opened}{value}{_attributes(widget)}>")


def _select(widget: Widget) -> SafeString:
    groups = "".join(
        f'\n  <optgroup label="{conditional_escape(name)}">{_options(options)}\n  </optgroup>'
        if name
        else _options(options)
        for name, options, _index in widget["optgroups"]
    )
    return _markup(f'<select name="{conditional_escape(widget["name"])}"{_attributes(widget)}>{groups}\n</select>')


def _options(options: list[Widget]) -> str:
    return "".join(
        f'\n  <option value="{conditional_escape(one["value"])}"{_attributes(one)}>{conditional_escape(one["label"])}'
        "</option>\n"
        for one in options
    )


def _text_area(widget: Widget) -> SafeString:
    text = conditional_escape(widget["value"] or "")
    return _markup(f'<textarea name="{conditional_escape(widget["name"])}"{_attributes(widget)}>\n{text}</textarea>')


def _attributes(widget: Widget) -> str:
    return "".join(
        f" {conditional_escape(name)}"
        if value is True
        else f' {conditional_escape(name)}="{conditional_escape(value)}"'
        for name, value in widget["attrs"].items()
        if value is not False
    )


def _markup(drawn: str) -> SafeString:
    return mark_safe(drawn)  # noqa: S308 - whatever is put in is escaped above


DRAWN: Mapping[str, Callable[[Widget], SafeString]] = {
    "django/forms/widgets/select.html": _select,
    "django/forms/widgets/textarea.html": _text_area,
} | dict.fromkeys(
    (f"django/forms/widgets/{kind}.html" for kind in ("input", "text", "number", "checkbox", "hidden", "password")),
    _input,
)
