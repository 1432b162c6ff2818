"""What a question is about: its things, its kind, what it lets choose between, and the domain it belongs to."""

from dataclasses import dataclass
from random import Random
from typing import Final

from experiments.gateway.simulated.domains import PARTS, find_domain, load_domain
from experiments.gateway.simulated.nouns import Noun, find_nouns
from experiments.gateway.simulated.phrasing import Pen
from experiments.gateway.simulated.questions import find_options, kind_of, the_question
from experiments.gateway.simulated.tokens import is_mostly_chinese

_FALLBACK: Final = {
    True: (Noun("这个问题", ""), Noun("下一步", "")),
    False: (Noun("question", "the "), Noun("next step", "the ")),
}
_MOST: Final = 4


@dataclass(frozen=True, slots=True)
class Subject:
    """nouns: at least two. options: None unless the question names two ways."""

    text: str
    is_chinese: bool
    nouns: tuple[Noun, ...]
    kind: str
    options: tuple[str, str] | None
    domain: str

    @classmethod
    def of(cls, text: str, *earlier: str) -> "Subject":
        """earlier: older questions, which lend their things to one that names too few."""
        chinese = is_mostly_chinese(text)
        question = the_question(text)
        nouns = find_nouns(text, chinese=chinese)
        for older in reversed(earlier):
            if len(nouns) < 2:
                nouns += [noun for noun in find_nouns(older, chinese=chinese) if noun not in nouns]
        nouns += _FALLBACK[chinese][: max(0, 2 - len(nouns))]
        domain = find_domain("\n".join((text, *earlier, *map(str, nouns))), chinese=chinese)
        return cls(text, chinese, tuple(nouns[:_MOST]), kind_of(question), find_options(question), domain)

    @property
    def language(self) -> str:
        return "zh" if self.is_chinese else "en"

    def pen(self, rng: Random, *, used: str = "") -> Pen:
        """A pen that knows the subject's words. used: text whose fillings are avoided as long as there are others."""
        domain = load_domain(self.domain, chinese=self.is_chinese)
        low = rng.randint(2, 5)
        slots = {part: _unused(list(domain[part]), used) for part in PARTS}
        slots |= {
            "topic": [str(self.nouns[0])],
            "topic2": [str(noun) for noun in self.nouns[1:]],
            "n": [str(low), str(low + 1)],
            "m": [str(low + rng.randint(2, 4))],
            "big": [str(rng.randrange(50, 1000, 25))],
            "pct": [str(rng.randrange(40, 95, 5))],
        }
        return Pen(rng, slots, chinese=self.is_chinese)


def _unused(fillings: list[str], used: str) -> list[str]:
    return [filling for filling in fillings if filling not in used] or fillings
