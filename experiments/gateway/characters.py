"""Characters that JSON may carry and a database may not: lone surrogates and NUL."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def clean(text: str) -> str:
    """Joins surrogate pairs into their character; what stays alone, and NUL, becomes U+FFFD."""
    if not _UNSTORABLE.search(text):
        return text
    paired = _SURROGATE_PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _UNSTORABLE.sub("�", paired)


class Cleaner:
    """`clean` for a text in pieces: a server may put the two halves of an emoji into two deltas."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        if not self._half and (not text or (text.isascii() and "\x00" not in text)):
            return text
        text = self._half + text
        self._half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        return clean(text.removesuffix(self._half))

    def close(self) -> str:
        half, self._half = self._half, ""
        return clean(half)
