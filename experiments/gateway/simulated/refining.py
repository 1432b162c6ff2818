"""The refiner's reading of a request: its objective, what it says, what it wishes for, and what it leaves open."""

import re
from random import Random
from typing import Final

from experiments.gateway.simulated.notes import shortened, take_notes
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.voices import load_voice

MOST_QUESTIONS: Final = 3
_FIGURE: Final = re.compile(r"\d[\d.,]* ?(?:%|[A-Za-z]+)?")
_HAN_FIGURE: Final = re.compile(
    r"(?:\d[\d.,]*|[一二三四五六七八九十百千万两]+)(?:万?元|美元|欧元|人|名|周|个?星期|个?月|天|年|小时|分钟|公里|米|平方米|间|台|块)"
)
_WISH: Final = re.compile(
    r"\b(?:prefer|want|must|should not|without|only|at most|no more than|would like|rather|need)\b"
    r"|希望|必须|不要|最好|只能|不超过|尽量|想要",
    re.IGNORECASE,
)
_KNOWN: Final = {
    "money": r"\b(?:budget|cost|costs|euros?|dollars?|pounds?|price|money|afford\w*)\b|[€$£]|预算|费用|元|钱|成本",
    "time": r"\b(?:weeks?|months?|days?|deadline|until|tomorrow|year|spring|summer|winter)\b|周|月|天|年|截止|之前",
    "people": r"\b(?:we are|team of|people|students|volunteers|colleagues|staff|class)\b|人|团队|学生|同事|志愿者",
    "success": r"\b(?:success|measure|goal|so that|aim)\b|目标|成功|衡量|以便",
    "limits": r"\b(?:must not|cannot|without|only|keep)\b|不能|不要|只能|保持",
}


def refine(prompt: Prompt, seed: int) -> dict[str, object]:
    """{objective, context, preferences, missing, clarifying_questions}; at most three questions."""
    text = prompt.fences.get("request", prompt.scenario)
    subject = Subject.of(text)
    voice = load_voice(subject.language, "refiner")
    pen = subject.pen(Random(seed))
    open_parts = [part for part, known in _KNOWN.items() if not re.search(known, text, re.IGNORECASE)]
    chosen = (open_parts or ["success"])[:MOST_QUESTIONS]
    joint = "、" if subject.is_chinese else ", "
    sentences = take_notes(text).sentences or (text,)
    context = pen.say(
        voice, "context", topics=joint.join(map(str, subject.nouns[:3])), quote=shortened(sentences[0], 18, 40)
    )
    figures = _figures(text, chinese=subject.is_chinese)
    stated = pen.say(voice, "figures", figures=joint.join(figures)) if figures else pen.say(voice, "nofigures")
    wishes = [sentence for sentence in sentences[1:] if _WISH.search(sentence)][:2]
    return {
        "objective": pen.say(voice, "objective"),
        "context": pen.join(context, stated),
        "preferences": [
            *(pen.say(voice, "wish", quote=shortened(wish, 18, 40)) for wish in wishes),
            *(pen.say(voice, "preference") for _ in range(3 - len(wishes))),
        ],
        "missing": [voice[part][0] for part in chosen],
        "clarifying_questions": [voice[part][1] for part in chosen],
    }


def _figures(text: str, *, chinese: bool) -> list[str]:
    found = (_HAN_FIGURE if chinese else _FIGURE).findall(text)
    return list(dict.fromkeys(figure.strip(" ,.") for figure in found))[:4]
