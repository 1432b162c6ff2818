"""Text as tokens: a word with the whitespace before it, or up to two Chinese characters. Joined, they are the text."""

import re
from functools import lru_cache
from typing import Final

_CJK: Final = r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_TOKEN: Final = re.compile(rf"\s*[{_CJK}]{{1,2}}|\s*[^\s{_CJK}]+|\s+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[A-Za-z]{2,}")


def split_tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Remembered, because a conversation sends the same messages with every request."""
    return sum(1 for _ in _TOKEN.finditer(text))


def is_mostly_chinese(text: str) -> bool:
    """Whether Chinese characters outnumber Latin words."""
    return len(_HAN.findall(text)) > len(_LETTER.findall(text))
