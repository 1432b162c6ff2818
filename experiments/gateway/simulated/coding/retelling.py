"""The same problem in other words: nouns and turns of phrase are exchanged, each one everywhere in the same way."""

import re
from random import Random
from typing import Final

_COMMON: Final = (
    "whole number=integer; at most=no more than,up to; at least=no less than,no fewer than; return=give back,compute"
    "; write=implement,program; list=sequence,row; text=string; exactly=precisely; begin=start; begins=starts"
    "; but=yet; together=in sum; also=too; every=each single; always=at all times; such=of this kind"
    "; does not=never; cannot=is unable to; given=stated; nothing=not a thing; number=count,figure"
    "; stand=come; stands=comes; order=sequence; others=rest; result=outcome,answer; empty=blank; several=some,many"
    "; those=the ones; same=identical; different=distinct; more than=above,over; less than=below,under"
    "; only=just,merely; before=ahead of,prior to; after=following; map=assign; long=far"
)


def retold(text: str, words: str, rng: Random) -> str:
    """words: `noun=alternative,alternative; …`; a noun's regular plural is replaced as well."""
    chosen: dict[str, str] = {}
    for pair in f"{words}; {_COMMON}".split("; "):
        word, _, others = pair.partition("=")
        chosen.setdefault(word, rng.choice([*others.split(","), word]))
    known = "|".join(map(re.escape, sorted(chosen, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w\"])({known})(s?)(?![\w(\"])", re.IGNORECASE)
    return pattern.sub(lambda match: _like(match[1], chosen[match[1].lower()]) + match[2], text)


def _like(word: str, other: str) -> str:
    return other[0].upper() + other[1:] if word[0].isupper() else other
