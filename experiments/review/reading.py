"""The form of an answer, and what it says: a plain form, a draft and a saved answer are the same fields."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from experiments.models import ReviewAnswer, ReviewComment
from experiments.review.content import Content, Correction, Remark
from experiments.review.rubric import Rubric, plain
from experiments.review.spans import Span, located

UNSAID = "unsaid"  # the value of a scale's choice "cannot say"
LONGEST_NUMBER = 30

Fields = Mapping[str, Sequence[str]]


def read(fields: Fields, rubric: Rubric) -> Content:
    """What the form says. What is no number is kept as one that no scale holds, so that it is refused, not guessed."""
    chosen = {scale.name: _first(fields, f"score.{scale.name}") for scale in rubric.scales}
    return Content(
        scores={name: _number(text) for name, text in chosen.items() if text and text != UNSAID},
        unsaid={name: _first(fields, f"why.{name}") for name, text in chosen.items() if text == UNSAID},
        labels={one.name: found for one in rubric.labels if (found := list(_of(fields, f"label.{one.name}")))},
        note=_first(fields, "note").strip(),
        flags=tuple(dict.fromkeys(_of(fields, "flag"))),
        remarks=tuple(_remarks(fields)),
        corrections=tuple(_corrections(fields)),
    )


def fields_of(answer: ReviewAnswer) -> dict[str, list[str]]:
    """The form that says what an answer says. Comments are placed where their words stand now; lost ones are left out,
    of which `lost` knows.
    """
    found: dict[str, list[str]] = {"note": [answer.note], "flag": list(answer.flags), "place": [], "comment": []}
    found |= {f"score.{name}": [plain(value)] for name, value in answer.scores.items()}
    for name, reason in answer.unsaid.items():
        found |= {f"score.{name}": [UNSAID], f"why.{name}": [reason]}
    found |= {f"label.{name}": list(chosen) for name, chosen in answer.labels.items()}
    for comment in answer.comments.select_related("message"):
        if span := place_of(comment):
            found["place"].append(f"{comment.message_id}:{span.start}:{span.end}")
            found["comment"].append(comment.text)
    for one in answer.corrections.all():
        found[f"correct.{one.judgment_id}.{one.measure}"] = [plain(one.score)]
        found[f"because.{one.judgment_id}.{one.measure}"] = [one.reason]
    return found


def lost(answer: ReviewAnswer) -> list[ReviewComment]:
    """The comments whose words are not where they were, nor anywhere else in the message, or stand there twice."""
    return [one for one in answer.comments.select_related("message") if place_of(one) is None]


def place_of(comment: ReviewComment) -> Span | None:
    """Where the words of a comment stand in its message as it reads now."""
    text, known = comment.message.text, comment.digest
    return located(text, start=comment.start, end=comment.end, quote=comment.quote, known=known)


def places(fields: Fields) -> list[tuple[str, Remark | None]]:
    """Each comment's words, with its place; None where that cannot be read."""
    pairs = zip(_of(fields, "place"), _of(fields, "comment"), strict=False)
    return [(text, _remark(place, text)) for place, text in pairs if text.strip()]


def _remarks(fields: Fields) -> list[Remark]:
    """A place that cannot be read becomes one that no message has."""
    nowhere = UUID(int=0)
    return [remark or Remark(nowhere, 0, 0, text) for text, remark in places(fields)]


def _remark(place: str, text: str) -> Remark | None:
    message, _colon, span = place.partition(":")
    start, _colon, end = span.partition(":")
    if not (start.isascii() and end.isascii() and start.isdigit() and end.isdigit() and len(span) < LONGEST_NUMBER):
        return None
    pk = _uuid(message)
    return Remark(pk, int(start), int(end), text) if pk else None


def _corrections(fields: Fields) -> list[Correction]:
    found = []
    for name in fields:
        kind, _dot, rest = name.partition(".")
        judgment, _dot, measure = rest.partition(".")
        score = _first(fields, name).strip()
        if kind == "correct" and score and (pk := _uuid(judgment)):
            reason = _first(fields, f"because.{rest}").strip()
            found.append(Correction(pk, measure[:60], _number(score), reason))
    return found


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ".")) if len(text) < LONGEST_NUMBER else math.nan
    except ValueError:
        return math.nan


def _of(fields: Fields, name: str) -> Sequence[str]:
    return fields.get(name, ())


def _first(fields: Fields, name: str) -> str:
    found = _of(fields, name)
    return found[0] if found else ""
