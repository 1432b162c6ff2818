"""The page on which an item is reviewed: what is read, what is asked, and what must not be shown yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from experiments.models import Judgment, Message, ReviewComment, ReviewItem, ReviewSlot
from experiments.models.labels import FLAGS
from experiments.review import answers, flagging, reading, rubrics, slots
from experiments.review.content import judgments_of, messages_of
from experiments.review.reading import UNSAID, Fields
from experiments.review.rubric import Label, Rubric, Scale
from experiments.review.spans import Piece, Span, pieces, sentences
from experiments.workflows.base.flags import REVIEWED

if TYPE_CHECKING:
    from accounts.models import User

Errors = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose. key: the key that chooses it."""

    value: str
    title: str
    key: str
    is_chosen: bool
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A scale or a label as the form asks it. why: the reason of somebody who cannot say."""

    name: str
    title: str
    options: list[Option]
    errors: list[str]
    multiple: bool = False
    is_unsaid: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message to be read. model: empty where it is hidden. flags: those of the reader alone where the others' are
    hidden. is_subject: what the item is about.
    """

    message: Message
    model: str
    flags: Sequence[str]
    pieces: list[Piece]
    sentences: list[Span]
    is_subject: bool


@dataclass(frozen=True, slots=True)
class Remarked:
    """A comment in the form. number: what marks its words in the text; 0 where these are not found any more."""

    number: int
    place: str
    quote: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """A judge's score, and what the form would make of it."""

    name: str
    value: Any
    field: str
    corrected: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    judgment: Judgment
    scores: list[Score]


@dataclass(frozen=True, slots=True)
class ItemPage:
    """is_mine: they hold it; is_free: they could; is_answered: they have. hides: models and judges' scores are."""

    item: ReviewItem
    rubric: Rubric
    slot: ReviewSlot | None
    scales: list[Question]
    labels: list[Question]
    flags: list[Option]
    note: str
    before: list[Utterance]
    shown: list[Utterance]
    remarks: list[Remarked]
    lost: list[ReviewComment]
    judgments: list[Judged]
    is_answered: bool
    is_free: bool
    may_answer: bool
    hides: bool
    errors: Errors = field(default_factory=dict)

    @property
    def is_mine(self) -> bool:
        return self.slot is not None


def page_of(item: ReviewItem, user: "User", *, fields: Fields | None = None, errors: Errors | None = None) -> ItemPage:
    """fields: what was typed; without it the draft, or else the answer that stands."""
    slot = slots.place_of(item, user)
    rubric = rubrics.of(item.queue.rubric)
    may_answer = type(item).objects.open_to(user).filter(pk=item.pk).exists()
    hides = not answers.sees_judge(item, slot) and not answers.may_look_behind(item, user)
    typed = fields if fields is not None else _known(item, user, slot)
    said = errors or {}
    remarks, spans = _remarks(item, typed)
    own = _own_flags(item, user, slot) if hides else None
    before, shown = _utterances(item, spans, own)
    keys = rubric.keys
    return ItemPage(
        item=item,
        rubric=rubric,
        slot=slot,
        scales=[_scale(scale, typed, said) for scale in rubric.scales],
        labels=[_label(label, typed, said, keys) for label in rubric.labels],
        flags=[Option(one, str(FLAGS[one]), "", one in typed.get("flag", ())) for one in REVIEWED],
        note="".join(typed.get("note", ())[:1]),
        before=before,
        shown=shown,
        remarks=remarks,
        lost=reading.lost(slot.answer) if slot and slot.answer else [],
        judgments=[] if hides else [_judged(one, typed) for one in judgments_of(item)],
        is_answered=bool(slot and slot.answer_id),
        is_free=slot is None and item.slots.free().exists(),
        may_answer=may_answer,
        hides=hides,
        errors=said,
    )


def _known(item: ReviewItem, user: "User", slot: ReviewSlot | None) -> Fields:
    if draft := answers.draft_of(item, user):
        return draft
    if slot and slot.answer:
        return reading.fields_of(slot.answer)
    last = item.answers.filter(author=user).order_by("-version").first()  # taken back: it is begun with
    return reading.fields_of(last) if last else {}


def _scale(scale: Scale, fields: Fields, errors: Errors) -> Question:
    chosen = "".join(fields.get(f"score.{scale.name}", ())[:1])
    options = [Option(one.text, one.text, one.key, one.text == chosen, one.anchor) for one in scale.points]
    why = "".join(fields.get(f"why.{scale.name}", ())[:1])
    return Question(scale.name, scale.title, options, errors.get(scale.name, []), is_unsaid=chosen == UNSAID, why=why)


def _label(label: Label, fields: Fields, errors: Errors, keys: Mapping[tuple[str, str], str]) -> Question:
    chosen = fields.get(f"label.{label.name}", ())
    options = [Option(one.name, one.title, keys[label.name, one.name], one.name in chosen) for one in label.choices]
    return Question(label.name, label.title, options, errors.get(label.name, []), multiple=label.multiple)


def _remarks(item: ReviewItem, fields: Fields) -> tuple[list[Remarked], dict[Any, list[tuple[int, Span]]]]:
    """The comments of the form, and by message which of its words each one marks."""
    texts = {message.pk: message.text for message in messages_of(item)}
    found: list[Remarked] = []
    marked: dict[Any, list[tuple[int, Span]]] = {}
    for number, (text, remark) in enumerate(reading.places(fields), 1):
        words = texts.get(remark.message, "")[remark.start : remark.end] if remark else ""
        place = f"{remark.message}:{remark.start}:{remark.end}" if remark else ""
        found.append(Remarked(number if words else 0, place, words, text))
        if remark and words:
            marked.setdefault(remark.message, []).append((number, Span(remark.start, remark.end, words)))
    return found, marked


def _utterances(
    item: ReviewItem, marked: Mapping[Any, list[tuple[int, Span]]], own: Mapping[UUID, set[str]] | None
) -> tuple[list[Utterance], list[Utterance]]:
    """What was said before, and what the item is about. Of a transcript that is all of it. own: the reader's flags,
    where the models and what others found are hidden.
    """
    rows = list(messages_of(item))
    about = {one.pk for one in rows if _is_subject(item, one)} or {one.pk for one in rows}
    made = [
        Utterance(
            one,
            one.model if own is None else "",
            one.flags if own is None else sorted(own.get(one.pk, ())),
            pieces(one.text, marked.get(one.pk, ())),
            sentences(one.text),
            one.pk in about,
        )
        for one in rows
    ]
    return [one for one in made if not one.is_subject], [one for one in made if one.is_subject]


def _own_flags(item: ReviewItem, user: "User", slot: ReviewSlot | None) -> dict[UUID, set[str]]:
    """Also those of their answer that others had set before them."""
    own = flagging.set_by(user, messages_of(item))
    if slot and slot.answer and (message := answers.message_of(item)):
        own.setdefault(message.pk, set()).update(slot.answer.flags)
    return own


def _is_subject(item: ReviewItem, message: Message) -> bool:
    if item.message_id:
        return message.pk == item.message_id
    judged = item.judgment
    return judged is not None and (message.turn, message.seat) == (judged.turn, judged.subject)


def _judged(judgment: Judgment, fields: Fields) -> Judged:
    scores = []
    for name, value in (judgment.scores or {}).items():
        place = f"{judgment.pk}.{name}"
        corrected, reason = fields.get(f"correct.{place}", ()), fields.get(f"because.{place}", ())
        scores.append(Score(name, value, place, "".join(corrected[:1]), "".join(reason[:1])))
    return Judged(judgment, scores)
