"""Model-made Markdown as safe HTML: no raw HTML, no images, links only to http and https."""

import nh3
from markdown_it import MarkdownIt

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
LONGEST_RENDERED = 200_000

_parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
_parser.disable("image")


def to_html(text: str) -> str:
    """Rendered and sanitised. Text too long to render at once is shown as it is, escaped."""
    if len(text) > LONGEST_RENDERED:
        return f"<pre>{nh3.clean_text(text)}</pre>"
    return nh3.clean(
        _parser.render(text),
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
