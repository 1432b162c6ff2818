"""Pages and fragments as lxml reads them: its elements, whose `text` is all the text in them."""

import re
from typing import Any

from lxml import etree, html

TEXTS = etree.XPath(".//text()", smart_strings=False)


class Element(html.HtmlElement):
    @property
    def text(self) -> str:
        """All text in it with single spaces, unlike lxml's, which ends at the first element; that is `text_content`."""
        return " ".join(" ".join(TEXTS(self)).split())


FIELDS = {
    name: type(name, (Element, base), {})
    for name, base in {"form": html.FormElement, "select": html.SelectElement, "input": html.InputElement}.items()
}


class Lookup(etree.CustomElementClassLookup):
    def lookup(self, node_type: str, document: Any, namespace: Any, name: str) -> type[Element] | None:
        return FIELDS.get(name, Element) if node_type == "element" else None


PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
PARSER.set_element_class_lookup(Lookup())


class Page:
    """A page whose elements are found by what they say about themselves."""

    def __init__(self, markup: str) -> None:
        self.root: Element = html.document_fromstring(markup.encode(), parser=PARSER)

    @property
    def text(self) -> str:
        return self.root.text

    def find(self, tag: str = "", **attributes: str) -> list[Element]:
        """`class_` for the attribute class."""
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        found = self.root.iter(tag or None)
        return [element for element in found if all(element.get(name) == value for name, value in wanted.items())]

    def by_id(self, id_: str) -> Element:
        [element] = self.find(id=id_)
        return element

    def form(self, **attributes: str) -> dict[str, str]:
        """What a browser would send if the form were submitted as it is."""
        [form] = self.find("form", **attributes)
        return {
            field.get("name"): value_of(field) for field in form.iter("input", "select", "textarea") if is_sent(field)
        }


def is_sent(field: Element) -> bool:
    return bool(field.get("name")) and (field.get("type") not in {"checkbox", "radio"} or "checked" in field.attrib)


def value_of(field: Element) -> str:
    return field.text_content().removeprefix("\n") if field.tag == "textarea" else field.value or ""


def squeezed(markup: str) -> str:
    """Without the white space between elements, and with single spaces elsewhere."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(markup.split()))


def fragment(markup: str) -> Element:
    """The only element at the top of a fragment."""
    [element] = Page(markup).root.find("body")
    return element
