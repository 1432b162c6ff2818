"""Scripts that import others: the browser is told of all of them at once, and need not find one after the other."""

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

IMPORT = re.compile(r'^import [^;]*?"(\.[\w./-]+\.js)";', re.MULTILINE)


@register.simple_tag
def module(name: str) -> SafeString:
    """A script of ours as a module, and hints for everything that it imports, which come after the styles."""
    hint = '<link rel="modulepreload" fetchpriority="low" href="{}">'
    hints = format_html_join("", hint, ((static(one),) for one in imports(name)))
    return format_html('{}<script type="module" src="{}"></script>', hints, static(name))


@cache
def imports(name: str) -> tuple[str, ...]:
    """Every module that this one imports, directly or not, in the order in which they are met."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        importer = waiting.pop(0)
        path = finders.find(importer)
        named = IMPORT.findall(Path(path).read_text(encoding="utf-8")) if path else []
        inner = [normpath(join(dirname(importer), one)) for one in named]
        waiting += [one for one in inner if one not in found]
        found |= dict.fromkeys(inner)
    return tuple(found)
