"""What is taken out of a provider's text: keys in whatever form, and characters that no database holds."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

PLACE = "[key]"
LEAST = 8  # characters of a key that is looked for; a shorter one would be found in innocent words
_MASK = r"(?:(?:[*•…x.·#]|\\u2026){2,64}+|…)"
_SUSPECT = re.compile(r"[%\\…]|&#|[*•x.·#]{2}")  # without any of these, a key stands there as it is or not at all
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=")
_LONGEST_SHOWN = 24  # characters of the beginning or the end that may stand beside a mask
_TELLING = 4  # so many of them, beside a mask, are the key's and no word

# --- characters that JSON may carry and a database may not: lone surrogates and NUL ---


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


# --- keys ---


def redact(text: str, key: str) -> str:
    """The text without the key. A key of fewer than LEAST characters is left, as most texts would suffer from it."""
    if len(key) < LEAST:
        return text
    is_there = len(text) >= len(key) and any(form in text for form in _whole_forms(key))  # no form is shorter
    if not is_there and not _SUSPECT.search(text):
        return text
    pieces, done = [], 0
    for begin, end in _found(text, key):
        if end > done:
            pieces += [text[done:begin], PLACE]
            done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def without_torn_end(text: str, key: str) -> str:
    """A text that was cut somewhere, without the beginning of the key at its end."""
    torn = _open_end(text, key) if len(key) >= LEAST else 0
    return text[: len(text) - torn] + PLACE if torn >= _TELLING else text


class Redactor:
    """`redact` for a text in pieces. What may be the beginning of the key is held back until it is known.

    found: whether the key has been found so far.
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= LEAST else ""
        self._held = ""
        self.found = False

    def feed(self, text: str) -> str:
        if not self._key or not text:
            return text
        return self._let(self._held + text, is_last=False)

    def close(self) -> str:
        return self._let(self._held, is_last=True) if self._held else ""

    def _let(self, text: str, *, is_last: bool) -> str:
        redacted = redact(text, self._key)
        self.found |= redacted != text
        held = 0 if is_last else _open_end(redacted, self._key)
        self._held = redacted[len(redacted) - held :]
        return redacted[: len(redacted) - held]


def _found(text: str, key: str) -> Iterator[tuple[int, int]]:
    """Where the key stands, in order. Of base64 the whole word goes: what stands around the key may be the key's."""
    done = 0
    for match in _pattern(key).finditer(text):
        begin, end = match.span()
        if match.lastgroup == "base64":
            while begin > done and text[begin - 1] in _BASE64:
                begin -= 1
            while end < len(text) and text[end] in _BASE64:
                end += 1
        yield max(begin, done), end
        done = max(done, end)


def _open_end(text: str, key: str) -> int:
    """How many characters at the end could be the beginning of the key, in any form that stands in one piece."""
    forms, firsts, longest = _openings(key)
    begin = max(0, len(text) - longest + 1)
    if firsts.isdisjoint(text[begin:]):
        return 0
    for index in range(begin, len(text)):
        if text[index] in firsts and any(form.startswith(text[index:]) for form in forms):
            return len(text) - index
    return 0


@lru_cache(maxsize=256)
def _openings(key: str) -> tuple[tuple[str, ...], frozenset[str], int]:
    """The forms, the characters with which they begin, and the length of the longest."""
    forms = _whole_forms(key)
    return forms, frozenset(form[0] for form in forms), max(map(len, forms))


@lru_cache(maxsize=256)
def _whole_forms(key: str) -> tuple[str, ...]:
    written = key.encode().hex()
    return (key, written, written.upper(), *_base64_cores(key))


@lru_cache(maxsize=256)
def _pattern(key: str) -> re.Pattern[str]:
    """Whatever a reader could restore the key from."""
    written = "".join(map(_written, key))
    hexadecimal = rf"(?i:{key.encode().hex()})"
    return re.compile(rf"{written}|{hexadecimal}|(?P<base64>{_either(_base64_cores(key))})|{_masked(key)}")


def _written(character: str) -> str:
    """One character as itself, or as URLs, JSON, HTML and source code write it."""
    code = ord(character)
    forms = [rf"%(?:25){{0,4}}{code:02x}", rf"\\{{1,4}}u00{code:02x}", rf"\\{{1,4}}x{code:02x}"]
    forms += [rf"&#0{{0,4}}{code};", rf"&#x0{{0,4}}{code:x};"]
    if not character.isalnum():
        forms.append(rf"\\{{1,4}}{re.escape(character)}")
    return rf"(?:{re.escape(character)}|(?i:{'|'.join(forms)}))"


def _base64_cores(key: str) -> list[str]:
    """What every base64 text has in it whose content has the key in it: it depends on where the key begins, by three,
    and what stands around the key decides about the characters at its edges.
    """
    cores = []
    for offset in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            text = encode(b"\0" * offset + key.encode()).decode()
            first, whole = -(-offset * 8 // 6), (offset + len(key)) * 8 // 6
            cores.append(text[first:whole])
    return list(dict.fromkeys(cores))


def _masked(key: str) -> str:
    """`sk-…abcd` and its like: some of the beginning, a mask, some of the end."""
    lengths = range(min(len(key) - 1, _LONGEST_SHOWN), 1, -1)
    telling = range(lengths.start, _TELLING - 1, -1)
    begin, end = _either(key[:n] for n in lengths), _either(key[-n:] for n in lengths)
    long_begin, long_end = _either(key[:n] for n in telling), _either(key[-n:] for n in telling)
    return rf"{begin}{_MASK}{end}|{long_begin}{_MASK}|(?<![*•…x.·#]){_MASK}{long_end}"


def _either(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"
