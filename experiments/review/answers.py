"""Answers: what a reviewer says of an item, what of it cannot be taken, and sending it.

An answer is sent once, as a new version, and there are never more of them than an item has places.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.errors import Errors, Invalid
from experiments.engine.text import is_storable
from experiments.lab.webhooks import outbox
from experiments.models import (
    Judgment,
    Message,
    ReviewAnswer,
    ReviewComment,
    ReviewCorrection,
    ReviewDraft,
    ReviewItem,
    ReviewQueue,
    ReviewSkip,
    ReviewSlot,
)
from experiments.review import flagging, rubrics, slots
from experiments.review.filling import USUAL_RANGE
from experiments.review.spans import digest
from experiments.tasks import clock
from experiments.workflows.base.flags import REVIEWED
from experiments.workflows.base.judge import RANGES
from experiments.workflows.base.rubrics import Rubric

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

LONGEST_TEXT = 10_000
LONGEST_REASON = 500
MOST_COMMENTS = 50
MOST_DRAFTED = 200_000  # characters of a draft's fields


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on the characters `start` to `end` of a message's text."""

    message: UUID
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Correction:
    """Which score of a judgment should have been another one, and why."""

    judgment: UUID
    measure: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Content:
    """scores: by scale, absent where nothing was said. unsaid: why they cannot say, by scale."""

    scores: dict[str, float] = field(default_factory=dict)
    unsaid: dict[str, str] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    note: str = ""
    flags: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def is_empty(self) -> bool:
        said = (self.scores, self.unsaid, any(self.labels.values()), self.note.strip())
        return not any((*said, self.flags, self.remarks, self.corrections))

    @property
    def fingerprint(self) -> str:
        """Equal for equal content: the same answer sent twice is one answer."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True, default=str).encode()).hexdigest()


def submit(item: ReviewItem, content: Content, *, by: "User") -> ReviewAnswer:
    """Their answer, or a new version of it; the same content again is the same answer. Somebody whose hold has run out
    still gets a place when one is free.

    Raises Forbidden where they do not review, Invalid naming the fields, and `slots.SlotUnavailable` when every place
    went to others: then nothing is recorded.
    """
    slots.require_open(item.queue, by)
    slot = slots.place_of(item, by) or slots.claim(item, by=by)
    check(content, item, rubrics.of(item.queue.rubric), sees_judge=sees_judge(item, slot))
    with transaction.atomic():
        held = ReviewSlot.objects.select_for_update(of=("self",)).select_related("answer").get(pk=slot.pk)
        if held.holder_id != by.pk:
            raise slots.SlotUnavailable(
                _("All places at this item were taken in the meantime. Your text is still here.")
            )
        if held.answer and held.answer.fingerprint == content.fingerprint:
            return held.answer
        answer = _written(item, content, by, held)
        ReviewSlot.objects.filter(pk=held.pk).update(answer=answer, answered=Now(), until=None)
        ReviewDraft.objects.filter(item=item, person=by).delete()
        ReviewSkip.objects.filter(item=item, person=by).delete()
        if message := message_of(item):  # flags of a whole transcript are in the answer alone
            for flag in content.flags:
                flagging.set_flag(message, flag, by=by, reason=flagging.IN_A_REVIEW)
        if held.answer is None:
            outbox.of_queue(item.queue)
    return answer


def sees_judge(item: ReviewItem, slot: ReviewSlot | None) -> bool:
    """Whether whoever has this place is shown models and judges' scores."""
    return not item.queue.is_blind or bool(slot and slot.answer_id and slot.revealed)


def may_look_behind(item: ReviewItem, user: "User") -> bool:
    """Whoever looks after the queue and does not review in it is shown what reviewers are not."""
    rows = ReviewQueue.objects.filter(pk=item.queue_id)
    return rows.manageable_by(user).exists() and not rows.assigned_to(user).exists()


def message_of(item: ReviewItem) -> Message | None:
    """The one on which a reviewer's flags stand; None for a whole transcript."""
    if not item.judgment:
        return item.message
    rows = item.run.messages.filter(turn=item.judgment.turn, seat=item.judgment.subject, superseded=False)
    return rows.order_by("-seq").first()


def given_to(item: ReviewItem) -> "QuerySet[ReviewAnswer]":
    """Every version of everybody's answer, with what belongs to it; `stands` where it is the one that counts."""
    rows = item.answers.select_related("author").prefetch_related("comments", "corrections")
    stands = Exists(ReviewSlot.objects.filter(answer=OuterRef("pk")))
    return rows.annotate(stands=stands).order_by("author__username", "version")


def keep_draft(item: ReviewItem, fields: dict[str, list[str]], *, by: "User") -> bool:
    """Keep what a form has, and renew the hold. False when it is too much to be kept."""
    slots.require_open(item.queue, by)
    if sum(len(name) + sum(map(len, values)) for name, values in fields.items()) > MOST_DRAFTED:
        return False
    ReviewDraft.objects.update_or_create(item=item, person=by, defaults={"fields": fields})
    slots.renew(item, by=by)
    return True


def draft_of(item: ReviewItem, user: "User") -> dict[str, list[str]]:
    row = ReviewDraft.objects.filter(item=item, person=user).first()
    return dict(row.fields) if row else {}


def _written(item: ReviewItem, content: Content, by: "User", slot: ReviewSlot) -> ReviewAnswer:
    earlier = ReviewAnswer.objects.filter(item=item, author=by).aggregate(last=Max("version"))["last"] or 0
    taken = None if slot.answer_id else slot.claimed  # how long a correction took is not known
    answer = ReviewAnswer.objects.create(
        item=item,
        author=by,
        version=earlier + 1,
        scores=content.scores,
        unsaid=content.unsaid,
        labels={name: chosen for name, chosen in content.labels.items() if chosen},
        note=content.note,
        flags=list(content.flags),
        is_informed=bool(item.queue.is_blind and slot.revealed),
        seconds=(clock.now() - taken).total_seconds() if taken else None,
        fingerprint=content.fingerprint,
    )
    texts = dict(Message.objects.filter(pk__in={r.message for r in content.remarks}).values_list("pk", "text"))
    ReviewComment.objects.bulk_create(
        ReviewComment(
            answer=answer,
            message_id=one.message,
            start=one.start,
            end=one.end,
            quote=texts[one.message][one.start : one.end],
            digest=digest(texts[one.message]),
            text=one.text.strip(),
        )
        for one in content.remarks
    )
    ReviewCorrection.objects.bulk_create(
        ReviewCorrection(
            answer=answer, judgment_id=one.judgment, measure=one.measure, score=one.score, reason=one.reason
        )
        for one in content.corrections
    )
    return answer


def messages_of(item: ReviewItem) -> Sequence[Message]:
    """What is read and commented on: the transcript to its end, or as far as the item's own message or turn."""
    rows = item.run.messages.filter(superseded=False).order_by("seq")
    if item.message_id:
        rows = rows.filter(seq__lte=Message.objects.filter(pk=item.message_id).values("seq"))
    elif item.judgment:
        rows = rows.filter(turn__lte=item.judgment.turn)
    elif item.turn is not None:
        rows = rows.filter(turn__lte=item.turn)
    return list(rows)


def judgments_of(item: ReviewItem) -> list[Judgment]:
    """The judgments that the item is about: itself, those of the message, or those of the whole run."""
    if item.judgment:
        return [item.judgment]
    rows = item.run.judgments.all()
    if item.message:
        rows = rows.filter(turn=item.message.turn, subject=item.message.seat)
    elif item.turn is not None:
        rows = rows.filter(turn=item.turn)
    return list(rows.order_by("turn", "subject", "pk"))


def check(content: Content, item: ReviewItem, rubric: Rubric, *, sees_judge: bool) -> None:
    """Raises Invalid naming every field at fault."""
    errors: Errors = {}
    if content.is_empty:
        errors["answer"] = [_("The answer is empty. Score a scale, choose a label, or write a note.")]
    _check_rubric(content, rubric, errors)
    if len(content.note) > LONGEST_TEXT or not is_storable(content.note):
        errors["note"] = [_("At most %(most)s characters fit here.") % {"most": LONGEST_TEXT}]
    if unknown := set(content.flags) - set(REVIEWED):
        errors["flags"] = [_("There is no flag %(flag)s.") % {"flag": min(unknown)}]
    _check_remarks(content, item, errors)
    if content.corrections and not sees_judge:
        errors["corrections"] = [_("The judge's scores can be corrected after you have answered and seen them.")]
    elif content.corrections:
        _check_corrections(content, item, errors)
    if errors:
        raise Invalid(errors)


def _check_rubric(content: Content, rubric: Rubric, errors: Errors) -> None:
    scales, labels = {scale.name: scale for scale in rubric.scales}, {label.name: label for label in rubric.labels}
    for name in {**content.scores, **content.unsaid}:
        score, reason = content.scores.get(name), content.unsaid.get(name)
        if name not in scales:
            errors[name] = [_("The rubric has no scale %(name)s.") % {"name": name}]
        elif score is not None and not (math.isfinite(score) and scales[name].holds(score)):
            errors[name] = [_("This value is not on the scale.")]
        elif reason is not None and not _is_text(reason, LONGEST_REASON):
            errors[name] = [_("Give a short reason for “cannot say”.")]
        elif score is not None and reason is not None:
            errors[name] = [_("Give a score or a reason for giving none, not both.")]
    for name, chosen in content.labels.items():
        if name not in labels:
            errors[name] = [_("The rubric has no label %(name)s.") % {"name": name}]
        elif set(chosen) - set(labels[name].names) or len(set(chosen)) != len(chosen):
            errors[name] = [_("This is not one of the choices.")]
        elif len(chosen) > 1 and not labels[name].multiple:
            errors[name] = [_("Choose only one of these.")]


def _check_remarks(content: Content, item: ReviewItem, errors: Errors) -> None:
    if len(content.remarks) > MOST_COMMENTS:
        errors["comments"] = [_("At most %(most)s comments fit in one answer.") % {"most": MOST_COMMENTS}]
        return
    texts = {message.pk: message.text for message in messages_of(item)} if content.remarks else {}
    for one in content.remarks:
        text = texts.get(one.message)
        if text is None or not 0 <= one.start < one.end <= len(text):
            errors["comments"] = [_("The commented words do not exist in the text.")]
        elif not _is_text(one.text, LONGEST_TEXT):
            errors["comments"] = [_("A comment needs a text of at most %(most)s characters.") % {"most": LONGEST_TEXT}]


def _check_corrections(content: Content, item: ReviewItem, errors: Errors) -> None:
    known = {one.pk: one.scores or {} for one in judgments_of(item)}
    for one in content.corrections:
        low, high = RANGES.get(one.measure, USUAL_RANGE)
        if one.measure not in known.get(one.judgment, {}):
            errors["corrections"] = [_("There is no such judge's score to correct.")]
        elif not low <= one.score <= high:
            said = _("A corrected score ranges from %(low)s to %(high)s.")
            errors["corrections"] = [said % {"low": f"{low:g}", "high": f"{high:g}"}]
        elif not _is_text(one.reason, LONGEST_REASON):
            errors["corrections"] = [_("Give a reason for the correction.")]
    if len({(one.judgment, one.measure) for one in content.corrections}) != len(content.corrections):
        errors["corrections"] = [_("A score is corrected twice.")]


def _is_text(text: str, longest: int) -> bool:
    return bool(text.strip()) and len(text) <= longest and is_storable(text)
