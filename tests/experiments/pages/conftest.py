"""Browsers without JavaScript: Alice's, Charlie's and a visitor's."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from tests.experiments.pages.council_pages import press, scripted_sit, sit  # noqa: F401 — fixtures of councils' pages
from tests.experiments.pages.held import hold, page_of  # noqa: F401 — fixtures of the debates' pages
from tests.fixtures import signed_in

VOID = {"input", "meta", "link", "br", "hr", "img", "path", "rect", "circle", "line", "source", "col"}


class Element:
    def __init__(self, tag: str, attributes: dict[str, str], parent: "Element | None") -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Element] = []
        self.words: list[str] = []

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def all(self) -> list["Element"]:
        return [self, *(inner for child in self.children for inner in child.all())]

    def find_all(self, tag: str) -> list["Element"]:
        return [element for element in self.all() if element.tag == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(word for element in self.all() for word in element.words).split())


class Page(HTMLParser):
    """The elements of a page, found by what they say about themselves."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = self._open = Element("document", {}, None)
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self._open)
        self._open.children.append(element)
        if tag not in VOID:
            self._open = element

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self._open.parent is not None:
            self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        self._open.words.append(data)

    def find(self, tag: str = "", **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [
            element
            for element in self.root.all()
            if (not tag or element.tag == tag) and all(element.get(name) == value for name, value in wanted.items())
        ]

    def by_id(self, id_: str) -> Element:
        [element] = self.find(id=id_)
        return element

    @property
    def text(self) -> str:
        return self.root.text

    def form(self, **attributes: str) -> dict[str, str]:
        """What a browser would send if the form were submitted as it is."""
        [form] = self.find("form", **attributes)
        sent: dict[str, str] = {}
        for field in form.all():
            name, kind = field.get("name"), field.get("type")
            if not name or field.tag == "button":
                continue
            if field.tag == "textarea":
                sent[name] = "".join(field.words).removeprefix("\n")
            elif field.tag == "select":
                options = [option for option in field.all() if option.tag == "option"]
                chosen = next((option for option in options if "selected" in option.attributes), options[0])
                sent[name] = chosen.get("value") or ""
            elif kind not in {"checkbox", "radio"} or "checked" in field.attributes:
                sent[name] = field.get("value") or ("on" if kind == "checkbox" else "")
        return sent


@pytest.fixture
def read() -> Callable[[Any], Page]:
    """The page of an answer."""
    return lambda response: Page(response.content.decode())


@pytest.fixture(autouse=True)
def nobody_is_woken(quiet_doorbell: list[Any]) -> list[Any]:
    return quiet_doorbell


@pytest.fixture
def browser(alice: Any) -> Client:
    """Alice's."""
    return signed_in(alice)


@pytest.fixture
def charlies(charlie: Any) -> Client:
    return signed_in(charlie)


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()
