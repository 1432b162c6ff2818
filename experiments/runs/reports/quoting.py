"""Words of models and people in Markdown, so that nobody takes them for the report's own: escaped, quoted or fenced."""

import re
from typing import Any

from markdown_it import MarkdownIt

LONGEST_QUOTED = 100_000  # characters that are read to see what they would look like; longer texts are fenced
MOST_SIGNS = 5_000  # that Markdown may mean something by, likewise
SIGNS = re.compile(r"[\n*_`~\[\]<>&\\|]")
SPECIAL = re.compile(r"([\\`*\[\]<|~&#$]|(?<![^\W_])_|_(?![^\W_]))")
BEGINNING = re.compile(r"^(?:([-+=:>])|(\d+)([.)])(?=\s|$))")
LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
UNSAFE = re.compile(r"(?:javascript|vbscript|file)\s*:|data\s*:\s*\w+/", re.IGNORECASE)
CALLOUT = re.compile(r"^([^\S\n]*)\[!", re.MULTILINE)
TICKS = re.compile("`+")
FORBIDDEN = frozenset({"heading_open", "html_block", "html_inline", "image"})

_parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def inline(text: str) -> str:
    """In one line, with every sign that Markdown knows escaped."""
    line = SPECIAL.sub(r"\\\1", UNSEEN.sub("", " ".join(text.split())))
    return BEGINNING.sub(_escaped_beginning, line)


def quoted(text: str) -> list[str]:
    """Markdown as a quotation. Its headings are shown as they were typed; what holds HTML, pictures or links that run
    something, and what would break out of the quotation, is fenced.
    """
    lines = _cleaned(text).strip("\n")
    is_short = len(lines) <= LONGEST_QUOTED and len(SIGNS.findall(lines)) <= MOST_SIGNS
    tamed = _tamed(lines) if is_short and not UNSAFE.search(lines) else None
    return fenced(text) if tamed is None else tamed


def fenced(text: str) -> list[str]:
    """As it stands, between fences that are longer than any in it."""
    lines = _cleaned(text)
    longest = max((len(run) for run in TICKS.findall(lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines.split("\n"), fence]


def _escaped_beginning(found: re.Match[str]) -> str:
    return f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}"


def _cleaned(text: str) -> str:
    return UNSEEN.sub("\ufffd", LINE_ENDS.sub("\n", text))


def _tamed(text: str) -> list[str] | None:
    """The quotation; None when something in it is more than words."""
    lines = CALLOUT.sub(r"\1\\[!", text).split("\n")
    for token in _parser.parse("\n".join(lines)):
        if token.type == "heading_open" and token.map:
            first, end = token.map
            is_underlined = token.markup in ("=", "-")
            row = end - 1 if is_underlined else first
            lines[row] = lines[row].replace(token.markup[0], f"\\{token.markup[0]}", 1)
    quotation = [f"> {line}".rstrip() for line in lines]
    env: dict[str, Any] = {}
    tokens = _parser.parse("\n".join(quotation), env)
    kinds = {one.type for token in tokens for one in (token, *(token.children or []))}
    outside = [token.type for token in tokens if token.level == 0]
    if outside != ["blockquote_open", "blockquote_close"] or kinds & FORBIDDEN or env.get("references"):
        return None
    return quotation
