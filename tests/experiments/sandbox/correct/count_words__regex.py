import re
from typing import Dict


def count_words(text: str) -> Dict[str, int]:
    words = re.findall(r"\S+", text)
    return {word: words.count(word) for word in set(words)}
