"""The page on which an item is reviewed: what is read, what is asked, and what must not be shown yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from experiments.library.instruments import findings
from experiments.library.instruments.findings import Finding
from experiments.models import Judgment, Message, ReviewComment, ReviewItem
from experiments.models.labels import FLAGS
from experiments.review import answer_form, answers, flagging, rubrics, slots
from experiments.review.answer_form import UNSAID, Fields, first
from experiments.review.instruments.units import annotations_of
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
    description: str
    options: list[Option]
    errors: list[str]
    multiple: bool = False
    is_unsaid: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message to be read. model: empty where it is hidden. flags: those of the reader alone where the others' are
    hidden. reasoning: where the judge saw it too. is_subject: what the item is about.
    """

    message: Message
    model: str
    flags: Sequence[str]
    reasoning: str
    pieces: list[Piece]
    sentences: list[Span]
    is_subject: bool


@dataclass(frozen=True, slots=True)
class Remarked:
    """A comment in the form. number: what marks its words in the text; 0 where these are not found any more. span: its
    words there.
    """

    number: int
    place: str
    quote: str
    text: str
    message: UUID | None
    span: Span | None


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


class ItemPage:
    """What somebody sees of an item. fields: what was typed; without it the draft, or else the answer that stands."""

    def __init__(self, item: ReviewItem, user: "User", *, fields: Fields | None = None, errors: Errors | None = None):
        self.item, self.user, self.errors = item, user, errors or {}
        self.slot = slots.place_of(item, user)  # they hold it, or have answered
        self.rubric = rubrics.of(item.queue.rubric)
        self.is_answered = bool(self.slot and self.slot.answer_id)
        # Whether judges' scores are hidden, and the models' names with them, unless the instrument's judge saw these.
        self.hides = not answers.sees_judge(item, self.slot) and not answers.may_look_behind(item, user)
        self.sees = item.queue.version.parsed.sees if item.queue.version else None
        self.hides_models = self.hides and not (self.sees and self.sees.names)
        self.fields = self._known() if fields is None else fields

    def _known(self) -> Fields:
        if draft := answers.draft_of(self.item, self.user):
            return draft
        if self.slot and self.slot.answer:
            return answer_form.fields_of(self.slot.answer)
        last = self.item.answers.filter(author=self.user).order_by("-version").first()  # taken back: it is begun with
        return answer_form.fields_of(last) if last else {}

    @property
    def is_mine(self) -> bool:
        return self.slot is not None

    @cached_property
    def is_free(self) -> bool:
        return self.slot is None and self.item.slots.free().exists()

    @cached_property
    def may_answer(self) -> bool:
        return ReviewItem.objects.open_to(self.user).filter(pk=self.item.pk).exists()

    @property
    def note(self) -> str:
        return first(self.fields, "note")

    @property
    def lost(self) -> list[ReviewComment]:
        return answer_form.lost(self.slot.answer) if self.slot and self.slot.answer else []

    @cached_property
    def scales(self) -> list[Question]:
        found = []
        for scale in self.rubric.scales:
            chosen, why = first(self.fields, f"score.{scale.name}"), first(self.fields, f"why.{scale.name}")
            options = [Option(one.text, one.text, one.key, one.text == chosen, one.anchor) for one in scale.points]
            errors = self.errors.get(scale.name, [])
            words = (scale.name, scale.title, scale.description)
            found.append(Question(*words, options, errors, is_unsaid=chosen == UNSAID, why=why))
        return found

    @cached_property
    def labels(self) -> list[Question]:
        found, keys = [], self.rubric.keys
        for label in self.rubric.labels:
            chosen, errors = self.fields.get(f"label.{label.name}", ()), self.errors.get(label.name, [])
            options = [
                Option(one.name, one.title, keys[label.name, one.name], one.name in chosen) for one in label.choices
            ]
            words = (label.name, label.title, label.description)
            found.append(Question(*words, options, errors, multiple=label.multiple))
        return found

    @cached_property
    def flags(self) -> list[Option]:
        return [Option(one, str(FLAGS[one]), "", one in self.fields.get("flag", ())) for one in REVIEWED]

    @cached_property
    def messages(self) -> Sequence[Message]:
        return answers.messages_of(self.item)

    @cached_property
    def remarks(self) -> list[Remarked]:
        """The comments of the form."""
        texts = {message.pk: message.text for message in self.messages}
        found = []
        for number, (text, remark) in enumerate(answer_form.remarks(self.fields), 1):
            if remark is None:
                found.append(Remarked(0, "", "", text, None, None))
                continue
            words = texts.get(remark.message, "")[remark.start : remark.end]
            place = f"{remark.message}:{remark.start}:{remark.end}"
            span = Span(remark.start, remark.end, words) if words else None
            found.append(Remarked(number if words else 0, place, words, text, remark.message, span))
        return found

    @cached_property
    def utterances(self) -> list[Utterance]:
        judged, own = self.item.judgment, self._own_flags() if self.hides else None
        about = {
            one.pk
            for one in self.messages
            if one.pk == self.item.message_id
            or (judged and (one.turn, one.seat) == (judged.turn, judged.subject))
            or self._is_of_unit(one)
        }
        return [
            Utterance(
                one,
                "" if self.hides_models else one.model,
                one.flags if own is None else sorted(own.get(one.pk, ())),
                one.reasoning if self.sees and self.sees.reasoning else "",
                pieces(one.text, [(r.number, r.span) for r in self.remarks if r.message == one.pk and r.span]),
                sentences(one.text),
                not about or one.pk in about,
            )
            for one in self.messages
        ]

    @property
    def before(self) -> list[Utterance]:
        """What was said before. In a transcript nothing: all of it is the subject."""
        return [one for one in self.utterances if not one.is_subject]

    @property
    def shown(self) -> list[Utterance]:
        return [one for one in self.utterances if one.is_subject]

    def _is_of_unit(self, message: Message) -> bool:
        """Whether it belongs to the turn, or to the participant's part of it or of the run, that was judged."""
        turn, seat = self.item.turn, self.item.seat
        return (turn is not None or bool(seat)) and turn in (None, message.turn) and seat in ("", message.seat)

    def _own_flags(self) -> dict[UUID, set[str]]:
        """The reader's flags, also those of their answer that others had set before them."""
        own = flagging.set_by(self.user, self.messages)
        if self.slot and self.slot.answer and (message := answers.message_of(self.item)):
            own.setdefault(message.pk, set()).update(self.slot.answer.flags)
        return own

    @cached_property
    def judgments(self) -> list[Judged]:
        found = []
        for judgment in () if self.hides else answers.judgments_of(self.item):
            scores = []
            for name, value in (judgment.scores or {}).items():
                place = f"{judgment.pk}.{name}"
                corrected, reason = first(self.fields, f"correct.{place}"), first(self.fields, f"because.{place}")
                scores.append(Score(name, value, place, corrected, reason))
            found.append(Judged(judgment, scores))
        return found

    @cached_property
    def findings(self) -> list[Finding]:
        """What the instrument said that this queue holds to people: nothing while it is hidden."""
        version, scan, item = self.item.queue.version, self.item.queue.scan, self.item
        if self.hides or version is None or scan is None:
            return []
        of_part = Q(run=item.run, turn=item.turn) if item.turn is not None else Q(run=item.run)
        same = Q(message=item.message) if item.message_id else of_part & Q(subject=item.seat)
        rows = annotations_of(version, scan).filter(same).select_related("version__instrument", "person")
        return list(findings.of(rows.order_by("judge", "pk")))
