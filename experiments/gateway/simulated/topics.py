"""Finds what a text is about, roughly: a few noun phrases and an excerpt that can be quoted."""

import re
from collections import Counter
from random import Random
from typing import Final

_PHRASE: Final = re.compile(
    r"\b(?:the|a|an|our|your|my|their|this|each|every|\d+|of|for|over|about)\s+((?:[a-z-]{3,}\s)?[a-z-]{4,})"
    r"(?=[.,;:!?)\n]|\s+(?:is|are|was|and|or|of|to|for|in|on|with|by|at|from|that|which|will|should|would|can|could|must"
    r"|if|but|as|than|when|where|between|before|after|has|have|needs?)\b|\s*$)"
)
_SIDE: Final = re.compile(r"\bmodel [ab]\b")
_WORD: Final = re.compile(r"\b[a-z]{5,}\b")
_HAN_NOUN: Final = re.compile(
    r"(?:的|关于|讨论|分配|争夺|谈判|解决|提到|关心|需要|保护|购买|使用|其中有)"
    r"(?:[一二三四五六七八九十百千万两几\d]+[个笔份台件元]?)*的?([\u4e00-\u9fff]{2,5}?)(?=[，。；：！？、的和与或在]|$)"
)
_HAN_DULL: Final = re.compile(r"万元|如何|^[你我他每这那]|对方|双方|代表|公司|模型")
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+")
_DULL: Final = frozenset(
    """
    the a an our your my their this each every all any some one two other others another which there these those
    would could should about after before than more most very really first second third last next same such both
    either neither while where being doing going model models turn turns numbers conversation message messages
    reply respond response instructions following answer question write please begin start continue never always
    because against between under something anything nothing someone thing things whole role character mechanics
    best better good well side sides end rest reasoning strategy demand problem matter moment kind sort lot way
    three four five six seven eight nine ten twelve fifteen twenty thirty forty fifty hundred thousand
    and for with from that not rules exercise lines words instruction ask part length name names
    """.split()  # noqa: SIM905 — reads better than forty strings
)


def find_points(text: str, topics: list[str], *, chinese: bool) -> list[str]:
    """What a message says about the topics; when it mentions none of them, its own noun phrases; may be empty."""
    lowered = text.lower()
    return [topic for topic in topics if topic in lowered] or find_topics(text, chinese=chinese)


def find_topics(text: str, *, chinese: bool) -> list[str]:
    """Noun phrases, the most frequent first; may be empty."""
    if chinese:
        nouns = [noun for noun in _HAN_NOUN.findall(text) if not _HAN_DULL.search(noun)]
        return [noun for noun, _ in Counter(nouns).most_common(8)]
    lowered = _SIDE.sub(" ", text.lower())  # "Model A speaks" is not about a speaks
    phrases = Counter(_noun(phrase) for phrase in _PHRASE.findall(lowered) if not _is_dull(phrase))
    if not phrases:
        phrases = Counter(word for word in _WORD.findall(lowered) if word not in _DULL)
    return [phrase for phrase, _ in phrases.most_common(8)]


def _is_dull(phrase: str) -> bool:
    words = phrase.split()
    return bool(_DULL & set(words)) or words[-1].endswith("ly")


def _noun(phrase: str) -> str:
    """Without a verb that was caught with the noun: "parts differ(s)" is about parts."""
    first, _, second = phrase.partition(" ")
    return first if second.endswith("s") and first.endswith("s") and not first.endswith(("ss", "us")) else phrase


def excerpt(rng: Random, text: str, *, chinese: bool) -> str:
    """The beginning of one of the text's sentences, up to nine words or sixteen Chinese characters; may be empty."""
    sentences = [sentence.strip(" *-–#>\"“”'") for sentence in _SENTENCE.findall(text)]
    if chinese:
        long_enough = [sentence for sentence in sentences if len(sentence) >= 4]
        return re.split("[，；：]", rng.choice(long_enough))[0][:16].strip("“”") if long_enough else ""
    long_enough = [sentence for sentence in sentences if len(sentence.split()) >= 4 and "“" not in sentence]
    if not long_enough:
        return ""
    sentence = rng.choice(long_enough)
    clause = re.split(r"[,;:]", sentence)[0]
    return " ".join((clause if len(clause.split()) >= 4 else sentence).split()[:9])
