"""The form of an answer, and what it says: a plain form, a draft and a saved answer are the same fields."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from experiments.models import ReviewAnswer, ReviewComment
from experiments.review.answers import Content, Correction, Remark
from experiments.review.spans import Span, located
from experiments.workflows.base.rubrics import Rubric, plain

UNSAID = "unsaid"  # the value of a scale's choice "cannot say"
LONGEST_NUMBER = 30
NOWHERE = UUID(int=0)  # no message has this id

Fields = Mapping[str, Sequence[str]]


def read(fields: Fields, rubric: Rubric) -> Content:
    """What the form says. What is no number is kept as one that no scale holds, so that it is refused, not guessed."""
    chosen = {scale.name: first(fields, f"score.{scale.name}") for scale in rubric.scales}
    return Content(
        scores={name: _number(text) for name, text in chosen.items() if text and text != UNSAID},
        unsaid={name: first(fields, f"why.{name}") for name, text in chosen.items() if text == UNSAID},
        labels={one.name: list(found) for one in rubric.labels if (found := fields.get(f"label.{one.name}"))},
        note=first(fields, "note").strip(),
        flags=tuple(dict.fromkeys(fields.get("flag", ()))),
        remarks=tuple(remark or Remark(NOWHERE, 0, 0, text) for text, remark in remarks(fields)),
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


def remarks(fields: Fields) -> list[tuple[str, Remark | None]]:
    """Each comment's words, with its place, `message:start:end`; None where that cannot be read."""
    found: list[tuple[str, Remark | None]] = []
    for place, text in zip(fields.get("place", ()), fields.get("comment", ()), strict=False):
        message, _colon, span = place.partition(":")
        start, _colon, end = span.partition(":")
        is_span = span.isascii() and start.isdigit() and end.isdigit() and len(span) < LONGEST_NUMBER
        pk = uuid_of(message) if is_span else None
        if text.strip():
            found.append((text, Remark(pk, int(start), int(end), text) if pk else None))
    return found


def first(fields: Fields, name: str) -> str:
    found = fields.get(name, ())
    return found[0] if found else ""


def uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _corrections(fields: Fields) -> list[Correction]:
    found = []
    for name in fields:
        kind, _dot, rest = name.partition(".")
        judgment, _dot, measure = rest.partition(".")
        score = first(fields, name).strip()
        if kind == "correct" and score and (pk := uuid_of(judgment)):
            reason = first(fields, f"because.{rest}").strip()
            found.append(Correction(pk, measure[:60], _number(score), reason))
    return found


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ".")) if len(text) < LONGEST_NUMBER else math.nan
    except ValueError:
        return math.nan
