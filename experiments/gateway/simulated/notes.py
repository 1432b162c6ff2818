"""What a reader notices in an answer: its length, its parts, its figures, its limits, and sentences worth quoting."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Final

from experiments.gateway.simulated.lexicon import count_moods
from experiments.gateway.simulated.tokens import is_mostly_chinese

_BLOCK_LINE: Final = re.compile(r"^\s*\|.*$|^\s*#+ .*$", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
_HEADING: Final = re.compile(r"(?:[:：]|\*\*)\s*$")
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:\.(?=\d)[^.!?。！？\n]+)*[.!?。！？”]*")
_NUMBER: Final = re.compile(r"\d[\d.,]*\d|\d+ ?%|\d")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LIMITS: Final = re.compile(
    r"\b(?:depends|unless|may be|might|exceptions?|caveat|assum\w+|limits?|would change|provided|reserv\w+|moderate|"
    r"rough|doubt|uncertain|in the case of|if this|weakness|cautiously|qualified|general information)\b"
    r"|取决|除非|例外|前提|假定|假设|不一定|谨慎|把握|局限|粗略|如果|弱点|一般信息|改变我的看法",
    re.IGNORECASE,
)
_HEARSAY: Final = re.compile(
    r"\b(?:believe me|trust me|to be honest|to be frank|i promise|gave my word|not yet published|insiders|in the know|"
    r"quietly moved|study that i cannot|misunderstood the figures|"
    r"need not check|internal comparison|people who must know)\b"
    r"|相信我|说实话|我保证|内行|尚未公开|不便透露|不外传|知情人"
    r"|不必亲自核实|误会了数据|坦诚地说",
    re.IGNORECASE,
)
_ORDERS: Final = re.compile(
    r"final ranking|(?:ignore|disregard) (?:all|the|any|other|earlier|previous)|rank (?:this|me|it) first"
    r"|最终排名|把.{0,8}排在第一",
    re.IGNORECASE,
)
_REFUSAL_LENGTH: Final = 60
_QUOTE_WORDS, _QUOTE_HAN = 16, 32
_INTRODUCTION: Final = re.compile(r"^(?:(?:In the case of|Where|As for) [^,]*, |(?:就[^，]*而言|(?:说到|对)[^，]*)，)")


@dataclass(frozen=True)
class Notes:
    """length: words, or characters of Chinese text. sentences: prose only, without lists, tables, code and headings."""

    text: str
    is_chinese: bool
    length: int
    sentences: tuple[str, ...]
    numbers: tuple[str, ...]

    @cached_property
    def _moods(self) -> dict[str, int]:
        return count_moods(self.text)

    @property
    def has_list(self) -> bool:
        return len(_ITEM.findall(self.text)) > 1

    @property
    def has_table(self) -> bool:
        return "| --- |" in self.text or "|---" in self.text

    @property
    def has_code(self) -> bool:
        return "```" in self.text

    @property
    def names_limits(self) -> bool:
        return bool(_LIMITS.search(self.text))

    @property
    def is_unverifiable(self) -> bool:
        return bool(_HEARSAY.search(self.text))

    @property
    def wanders(self) -> bool:
        return self._moods["drifting"] > 1

    @property
    def declines(self) -> bool:
        limit = _REFUSAL_LENGTH * (2 if self.is_chinese else 1)
        return self._moods["declining"] > 0 and self.length < limit

    @property
    def gives_orders(self) -> bool:
        return bool(_ORDERS.search(self.text))

    def opening(self, longest: int) -> str:
        """The first sentences, within `longest` words or twice as many characters; empty when there is no prose."""
        taken = ""
        for sentence in self.sentences:
            longer = f"{taken} {sentence}".strip() if not self.is_chinese else taken + sentence
            if taken and (_size(longer, chinese=self.is_chinese) > longest * (1 + self.is_chinese) or len(taken) > 60):
                break
            taken = longer
        return shortened(taken, longest, 2 * longest)

    def quote(self, rng: Random) -> str:
        """A sentence or the beginning of one, short enough to be quoted; may be empty."""
        limit = _QUOTE_HAN if self.is_chinese else _QUOTE_WORDS
        short = [sentence for sentence in self.sentences if _size(sentence, chinese=self.is_chinese) <= limit]
        chosen = rng.choice(short or list(self.sentences)) if self.sentences else ""
        return shortened(chosen, _QUOTE_WORDS, _QUOTE_HAN)


@lru_cache(maxsize=256)
def take_notes(text: str) -> Notes:
    chinese = is_mostly_chinese(text)
    prose = _BLOCK_LINE.sub("\n", _CODE.sub("\n", text))
    numbers = [number for number in _NUMBER.findall(_ITEM.sub("", prose)) if number]
    return Notes(text, chinese, _size(text, chinese=chinese), _sentences(prose), tuple(dict.fromkeys(numbers)))


def shortened(sentence: str, words: int, characters: int) -> str:
    """The sentence without its full stop and with single quotes; a longer one ends at a comma or with an ellipsis."""
    bare = re.sub(r"[*_`]", "", sentence).strip().rstrip(".。 ").translate(str.maketrans("“”", "‘’"))
    chinese = is_mostly_chinese(bare)
    if _size(bare, chinese=chinese) <= (characters if chinese else words):
        return bare
    ends = [match.start() for match in re.finditer(r"[.;,:](?= )|[；，：。]", bare)]
    bare = _INTRODUCTION.sub("", bare)
    limit = characters if chinese else words
    if _size(bare, chinese=chinese) <= limit:
        return bare
    clauses = [bare[:end] for end in ends if limit // 2 <= _size(bare[:end], chinese=chinese) <= limit]
    if clauses:
        return clauses[-1]
    return (bare[:characters] if chinese else " ".join(bare.split()[:words])).rstrip(",;:，；：") + "…"


def _sentences(prose: str) -> tuple[str, ...]:
    lines = [line.strip() for line in prose.splitlines() if not _ITEM.match(line) and not _HEADING.search(line.strip())]
    found = [sentence.strip() for line in lines for sentence in _SENTENCE.findall(line)]
    return tuple(sentence for sentence in found if len(sentence.split()) >= 3 or len(_HAN.findall(sentence)) >= 6)


def _size(text: str, *, chinese: bool) -> int:
    return len(_HAN.findall(text)) if chinese else len(text.split())
