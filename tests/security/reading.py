"""What a page holds that could do something by itself, as far as a parser can tell."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

FORBIDDEN = {
    *("iframe", "object", "embed", "base", "style", "frame", "frameset", "applet", "marquee", "math", "portal"),
    *("audio", "video", "source", "track", "foreignobject", "animate", "set", "image", "feimage"),
}
ADDRESSES = {"href", "src", "action", "formaction", "srcset", "poster", "data", "background", "ping", "xlink:href"}
DATA = ("application/json", "importmap")


class Active(HTMLParser):
    """found: in words, what should not be there."""

    def __init__(self, html: str, *, may_style: bool = False) -> None:
        super().__init__()
        self.found: list[str] = []
        self._forbidden, self._styled = (FORBIDDEN - {"style"}, {"col"}) if may_style else (FORBIDDEN, set())
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in self._forbidden:
            self.found.append(f"<{tag}>")
        if tag == "script" and not given.get("src") and given.get("type") not in DATA:
            self.found.append("an inline script")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.found.append("a page that leaves by itself")
        for name, value in given.items():
            if name.startswith("on") or name == "srcdoc" or (name == "style" and tag not in self._styled):
                self.found.append(f"<{tag} {name}>")
            if name in ADDRESSES and not _is_harmless(tag, name, value):
                self.found.append(f"<{tag} {name}={value[:60]!r}>")


def _is_harmless(tag: str, name: str, value: str) -> bool:
    """Only a link that somebody clicks may lead away, and nothing but http does."""
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return False
    if tag == "a" and name == "href":
        return parts.scheme in {"", "http", "https"} and (bool(parts.scheme) or not parts.netloc)
    if name == "src" and tag == "img" and value.startswith("data:image/"):
        return True  # even of SVG an image runs nothing
    return not parts.scheme and not parts.netloc


def active(html: str, *, may_style: bool = False) -> list[str]:
    return Active(html, may_style=may_style).found
