"""The parts of an answer that are not prose: a list of steps, a small table, a short piece of code."""

from functools import cache
from random import Random
from typing import Final

from experiments.gateway.simulated.phrasing import Pen, capitalised
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.voices import Voice, voice_files

_ROWS: Final = 3
_CHECK: Final = "check"


def steps_list(pen: Pen, voice: Voice, *, numbered: bool) -> str:
    marks = [f"{number}." if numbered else "-" for number in range(1, _ROWS + 1)]
    end = "。" if pen.chinese else "."
    items = [
        f"{mark} {capitalised(step)}{end}" for mark, step in zip(marks, pen.draw_in_order("step", _ROWS), strict=True)
    ]
    return f"{pen.say(voice, 'items')}\n\n" + "\n".join(items)


def table_of(pen: Pen, voice: Voice, subject: Subject, ahead: int) -> str:
    """Of a choice: which way does better at what. Of anything else: what counts how much."""
    if subject.options is None:
        heading, *weights = voice["weight"]
        rows = [(capitalised(pen.draw("criterion")), weight) for weight in weights]
        return _drawn([(voice["counts"][0], heading), *rows])
    marks = [voice[name][0] for name in ("better", "worse")]
    verdicts = [(marks[0], marks[1]), (marks[1], marks[0]), (voice["even"][0],) * 2]
    order = [verdicts[ahead], verdicts[2], verdicts[ahead]]
    pen.rng.shuffle(order)
    rows3 = [(capitalised(pen.draw("criterion")), *verdict) for verdict in order]
    return _drawn([(voice["counts"][0], *subject.options), *rows3])


def code_block(pen: Pen, voice: Voice, subject: Subject) -> str:
    """The snippet that shares the most words with the question; a way to check a solution when none does."""
    language, snippet = _snippet(subject.text.lower(), pen.rng)
    return f"{pen.say(voice, 'code')}\n\n```{language}\n{snippet}\n```\n\n{pen.say(voice, 'after')}"


def _drawn(rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _snippet(text: str, rng: Random) -> tuple[str, str]:
    hits = {name: sum(word in text for word in words) for name, (words, _, _) in _snippets().items()}
    most = max(hits.values())
    name = rng.choice([name for name, count in hits.items() if count == most]) if most else _CHECK
    return _snippets()[name][1:]


@cache
def _snippets() -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Words, language and code by name: the first two lines of a file and its rest."""
    found = {}
    for path in voice_files("code"):
        words, language, code = path.read_text(encoding="utf-8").split("\n", 2)
        found[path.stem] = (tuple(words.split()), language, code.rstrip())
    return found
