"""Model-made Markdown as safe HTML: no raw HTML, no images, links only to http and https, code with its colours."""

import contextlib
import re
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
CLASSES = {"span": {name for name in STANDARD_TYPES.values() if name}, "pre": {"highlight"}, "strong": {"named"}}
LONGEST_RENDERED = 200_000
MOST_SIGNS = 20_000  # that Markdown may mean something by: each costs as much as a hundred letters
SIGNS = re.compile(r"[\n*_`~\[\]<>&\\|]")
LONGEST_COLOURED = 20_000  # some lexers take time out of all proportion
ORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # with them code reads otherwise than it runs (“Trojan Source”)
NAMED = "named"
QUOTED = '“[^”]{0,300}”|"[^"]{0,300}"|«[^»]{0,300}»|「[^」]{0,300}」|『[^』]{0,300}』'


def to_html(text: str, names: Mapping[str, str] | None = None) -> str:
    """Rendered and sanitised. Text that would take long, by its length or its signs, is shown as it is, escaped.

    names: what is written in place of exact words, in bold; not inside code, links and quotes.
    """
    if len(text) > LONGEST_RENDERED or len(SIGNS.findall(text)) > MOST_SIGNS:
        return f"<pre>{nh3.clean_text(text)}</pre>"
    environment: dict[str, Any] = {}
    tokens = _parser.parse(text, environment)
    if names:
        _put_names(tokens, names)
    html = _parser.renderer.render(tokens, _parser.options, environment)
    return nh3.clean(
        html.replace("<th></th>", "<td></td>"),  # an empty cell is nobody's heading
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        allowed_classes=CLASSES,
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )


def coloured(code: str, language: str) -> str:
    """Code as a block with its colours, sanitised."""
    return nh3.clean(_coloured(code, language, ""), tags=TAGS, allowed_classes=CLASSES)


def _coloured(code: str, language: str, _attributes: str) -> str:
    """A block of code with pygments' classes; as it is, where the language is not named or not known. What would change
    the direction of its letters is written out.
    """
    code = ORDERING.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", code)
    inner = nh3.clean_text(code)
    if language and len(code) <= LONGEST_COLOURED:
        with contextlib.suppress(ClassNotFound):
            inner = highlight(code, get_lexer_by_name(language, stripnl=False), _formatter)
    return f'<pre class="highlight"><code>{inner}</code></pre>'


def _put_names(tokens: Sequence[Token], names: Mapping[str, str]) -> None:
    """In texts that stand in no quotation and in no link."""
    any_of = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    words = re.compile(f"{QUOTED}|(?<![A-Za-z0-9_])({any_of})(?![A-Za-z0-9_])")
    quotes = links = 0
    for token in tokens:
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type != "inline" or not token.children or quotes:
            continue
        parts: list[Token] = []
        for child in token.children:
            links += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            parts += [child] if child.type != "text" or links else _named(child.content, words, names)
        token.children = parts


def _named(text: str, words: re.Pattern[str], names: Mapping[str, str]) -> list[Token]:
    """A text, cut where a name is put in."""
    parts, end = [], 0
    for found in words.finditer(text):
        if found[1] is None:  # somebody else's words
            continue
        parts += [_token("text", text[end : found.start()]), _token(NAMED, names[found[1]])]
        end = found.end()
    return [*parts, _token("text", text[end:])]


def _token(kind: str, content: str) -> Token:
    return Token(type=kind, tag="", nesting=0, content=content)


def _render_named(tokens: Sequence[Token], index: int, _options: Any, _environment: MutableMapping[str, Any]) -> str:
    return f'<strong class="named">{nh3.clean_text(tokens[index].content)}</strong>'


_formatter = HtmlFormatter(nowrap=True)
_parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "highlight": _coloured})
_parser.enable(["table", "strikethrough"]).disable("image")
_parser.renderer.rules[NAMED] = _render_named  # type: ignore[attr-defined]  # the protocol of renderers names no rules; ours has them
