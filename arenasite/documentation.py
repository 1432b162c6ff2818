"""The documentation inside the product: the pages of `docs/`, and a search through their sections."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = settings.BASE_DIR / "docs"
INDEX = "index"
MOST_RESULTS = 30
CONTEXT = 80  # characters around the first word found


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a page and the text below it, without markup. level: 1 is the page's own heading."""

    page: str
    level: int
    title: str
    anchor: str
    text: str

    @property
    def address(self) -> str:
        return f"{address_of(self.page)}#{self.anchor}" if self.level > 1 else address_of(self.page)


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    html: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Result:
    section: Section
    page_title: str
    excerpt: str


@cache
def pages() -> dict[str, Page]:
    """All pages by name, in the order in which the index links them."""
    tokens = {path.stem: _tokens(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.md")}
    linked = re.findall(r"\]\(([a-z-]+)\.md", (FOLDER / f"{INDEX}.md").read_text(encoding="utf-8"))
    order = dict.fromkeys([INDEX, *linked, *sorted(tokens)])
    return {name: _page(name, tokens[name]) for name in order if name in tokens}


@cache
def titles() -> dict[str, str]:
    """Of all pages by name, which no page has to be parsed for."""
    return {
        path.stem: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in FOLDER.glob("*.md")
    }


def show(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """A page; with `q`, the sections of all pages that hold every word of it."""
    if name not in pages():
        raise Http404
    words = request.GET.get("q", "").split()[:20]
    context = {
        "name": name,
        "page": pages()[name],
        "contents": [(one, page.title, address_of(one)) for one, page in pages().items()],
        "words": " ".join(words),
        "results": found(words)[:MOST_RESULTS] if words else [],
    }
    return render(request, "documentation.html", context)


def found(words: Iterable[str]) -> list[Result]:
    """Sections with every word, those with all of them in the heading first."""
    wanted = [word.casefold() for word in words]
    results = [
        Result(section, page.title, _excerpt(section.text, wanted[0]))
        for page in pages().values()
        for section in page.sections
        if all(word in f"{section.title} {section.text}".casefold() for word in wanted)
    ]
    return sorted(results, key=lambda one: not all(word in one.section.title.casefold() for word in wanted))


def address_of(name: str) -> str:
    return reverse("documentation") if name == INDEX else reverse("documentation-page", args=[name])


_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


def _tokens(text: str) -> list[Token]:
    tokens = _parser.parse(text)
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", _anchor(inline.content))
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _link(str(child.attrGet("href"))))
            elif child.type == "image":
                child.attrSet("src", static(f"documentation/{str(child.attrGet('src')).removeprefix('pictures/')}"))
                child.attrSet("loading", "lazy")
    return tokens


def _page(name: str, tokens: list[Token]) -> Page:
    """Wide content scrolls by itself, which needs an element that the keyboard reaches."""
    html = _parser.renderer.render(tokens, _parser.options, {})
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    html = html.replace("<pre>", '<pre tabindex="0">').replace("<th></th>", "<td></td>")
    sections: list[Section] = []
    starts = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        heading, inline = tokens[start], tokens[start + 1]
        text = " ".join(filter(None, map(_text, tokens[start + 2 : end])))
        sections.append(Section(name, int(heading.tag[1:]), _text(inline), str(heading.attrGet("id")), text))
    return Page(sections[0].title, html, tuple(sections))


def _text(token: Token) -> str:
    if token.type in ("fence", "code_block"):
        return token.content
    return "".join(child.content or " " for child in token.children or () if child.type != "image")


def _anchor(heading: str) -> str:
    """As code hosts make it, so that links in the files work there and here."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _link(target: str) -> str:
    """Of a page, its address here; of a file elsewhere in the repository, the place where the pages are listed."""
    path, _hash, anchor = target.partition("#")
    if not path.endswith(".md"):
        return target
    if "/" in path:
        return reverse("documentation")
    return f"{address_of(path.removesuffix('.md'))}{f'#{anchor}' if anchor else ''}"


def _excerpt(text: str, word: str) -> str:
    place = max(text.casefold().find(word), 0)
    start, end = max(place - CONTEXT, 0), place + 2 * CONTEXT
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"
