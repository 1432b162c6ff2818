"""Sending an answer: once, as a new version, and never more of them than an item has places."""

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from experiments.lab.webhooks import outbox
from experiments.models import (
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
from experiments.review.content import Content, check
from experiments.review.spans import digest
from experiments.tasks import clock

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

MOST_DRAFTED = 200_000  # characters of a draft's fields


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
                _("Meanwhile others have taken every place at this item. What you wrote is still here.")
            )
        if held.answer and held.answer.fingerprint == content.fingerprint:
            return held.answer
        answer = _written(item, content, by, held)
        ReviewSlot.objects.filter(pk=held.pk).update(answer=answer, answered=Now(), until=None)
        ReviewDraft.objects.filter(item=item, person=by).delete()
        ReviewSkip.objects.filter(item=item, person=by).delete()
        _flag(item, content, by)
        if held.answer is None:
            outbox.of_queue(item.queue)
    return answer


def sees_judge(item: ReviewItem, slot: ReviewSlot | None) -> bool:
    """Whether whoever has this place is shown models and judges' scores."""
    return not item.queue.is_blind or bool(slot and slot.answer_id and slot.revealed)


def may_look_behind(item: ReviewItem, user: "User") -> bool:
    """Whoever looks after the queue and does not review in it is shown what reviewers are not."""
    queues = ReviewQueue.objects.filter(pk=item.queue_id)
    return queues.manageable_by(user).exists() and not queues.assigned_to(user).exists()


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
        seconds=_seconds(slot),
        fingerprint=content.fingerprint,
    )
    ReviewComment.objects.bulk_create(_comments(answer, content))
    ReviewCorrection.objects.bulk_create(
        ReviewCorrection(
            answer=answer, judgment_id=one.judgment, measure=one.measure, score=one.score, reason=one.reason
        )
        for one in content.corrections
    )
    return answer


def _comments(answer: ReviewAnswer, content: Content) -> list[ReviewComment]:
    wanted = {one.message for one in content.remarks}
    texts = dict(Message.objects.filter(pk__in=wanted).values_list("pk", "text"))
    return [_comment(answer, one, texts[one.message]) for one in content.remarks]


def _comment(answer: ReviewAnswer, remark: Any, text: str) -> ReviewComment:
    words = text[remark.start : remark.end]
    places = {"start": remark.start, "end": remark.end, "quote": words, "digest": digest(text)}
    return ReviewComment(answer=answer, message_id=remark.message, text=remark.text.strip(), **places)


def _seconds(slot: ReviewSlot) -> float | None:
    """Of the time since the item was taken; of a correction nothing is known."""
    if slot.claimed is None or slot.answer_id:
        return None
    return (clock.now() - slot.claimed).total_seconds()


def _flag(item: ReviewItem, content: Content, by: "User") -> None:
    """A reviewer's flags stand on the message, too. Those of a whole transcript stand in the answer alone."""
    if message := message_of(item):
        for flag in content.flags:
            flagging.set_flag(message, flag, by=by, reason=flagging.IN_A_REVIEW)
