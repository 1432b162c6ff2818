"""What a reviewer says of an item, as a value, and what of it cannot be taken."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.engine.text import is_storable
from experiments.models import Judgment, Message, ReviewItem
from experiments.review.rubric import Rubric
from experiments.workflows.base.flags import REVIEWED
from experiments.workflows.base.judge import RANGES

LONGEST_TEXT = 10_000
LONGEST_REASON = 500
MOST_COMMENTS = 50
MOST_CORRECTIONS = 40
OTHER_RANGE = (0.0, 10.0)  # of judges' scores other than the arena's


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


def check(content: Content, item: ReviewItem, rubric: Rubric, *, sees_judge: bool) -> None:
    """Raises Invalid naming every field at fault."""
    errors: dict[str, list[str]] = {}
    if content.is_empty:
        errors["answer"] = [_("Nothing is filled in yet: score a scale, choose a label, or write a note.")]
    _check_scores(content, rubric, errors)
    _check_labels(content, rubric, errors)
    if len(content.note) > LONGEST_TEXT or not is_storable(content.note):
        errors["note"] = [_("At most %(most)s characters fit here.") % {"most": LONGEST_TEXT}]
    if unknown := set(content.flags) - set(REVIEWED):
        errors["flags"] = [_("There is no flag %(flag)s.") % {"flag": min(unknown)}]
    _check_remarks(content, item, errors)
    _check_corrections(content, item, errors, sees_judge=sees_judge)
    if errors:
        raise Invalid(errors)


def messages_of(item: ReviewItem) -> "Sequence[Message]":
    """What is read and commented on: the transcript to its end, or as far as the item's own message or turn."""
    rows = item.run.messages.filter(superseded=False).order_by("seq")
    if item.message_id:
        rows = rows.filter(seq__lte=Message.objects.filter(pk=item.message_id).values("seq"))
    elif item.judgment:
        rows = rows.filter(turn__lte=item.judgment.turn)
    return list(rows)


def judgments_of(item: ReviewItem) -> "list[Judgment]":
    """The judgments that the item is about: itself, those of the message, or those of the whole run."""
    if item.judgment:
        return [item.judgment]
    rows = item.run.judgments.all()
    if item.message:
        rows = rows.filter(turn=item.message.turn, subject=item.message.seat)
    return list(rows.order_by("turn", "subject", "pk"))


def _check_scores(content: Content, rubric: Rubric, errors: dict[str, list[str]]) -> None:
    scales = {scale.name: scale for scale in rubric.scales}
    for name, score in content.scores.items():
        if name not in scales:
            errors[name] = [_("The rubric has no scale %(name)s.") % {"name": name}]
        elif not math.isfinite(score) or not scales[name].holds(score):
            errors[name] = [_("This is none of the scale's values.")]
        elif name in content.unsaid:
            errors[name] = [_("Give a score, or say why you cannot: not both.")]
    for name, reason in content.unsaid.items():
        if name not in scales:
            errors[name] = [_("The rubric has no scale %(name)s.") % {"name": name}]
        elif not reason.strip() or len(reason) > LONGEST_REASON or not is_storable(reason):
            errors[name] = [_("Say in a few words why you cannot say.")]


def _check_labels(content: Content, rubric: Rubric, errors: dict[str, list[str]]) -> None:
    labels = {label.name: label for label in rubric.labels}
    for name, chosen in content.labels.items():
        if name not in labels:
            errors[name] = [_("The rubric has no label %(name)s.") % {"name": name}]
        elif set(chosen) - set(labels[name].names) or len(set(chosen)) != len(chosen):
            errors[name] = [_("This is none of the choices.")]
        elif len(chosen) > 1 and not labels[name].multiple:
            errors[name] = [_("Only one of these can be chosen.")]


def _check_remarks(content: Content, item: ReviewItem, errors: dict[str, list[str]]) -> None:
    if len(content.remarks) > MOST_COMMENTS:
        errors["comments"] = [_("At most %(most)s comments fit in one answer.") % {"most": MOST_COMMENTS}]
        return
    texts = {message.pk: message.text for message in messages_of(item)} if content.remarks else {}
    for one in content.remarks:
        text = texts.get(one.message)
        if text is None or not 0 <= one.start < one.end <= len(text):
            errors["comments"] = [_("The words that a comment is about are not there.")]
        elif not one.text.strip() or len(one.text) > LONGEST_TEXT or not is_storable(one.text):
            errors["comments"] = [_("A comment needs words of its own, at most %(most)s.") % {"most": LONGEST_TEXT}]


def _check_corrections(content: Content, item: ReviewItem, errors: dict[str, list[str]], *, sees_judge: bool) -> None:
    if not content.corrections:
        return
    if not sees_judge:
        errors["corrections"] = [_("The judge's scores are corrected once they are shown, after an answer.")]
        return
    known = {one.pk: one.scores or {} for one in judgments_of(item)}
    for one in content.corrections:
        low, high = RANGES.get(one.measure, OTHER_RANGE)
        if one.measure not in known.get(one.judgment, {}):
            errors["corrections"] = [_("There is no such score of a judge to correct.")]
        elif not low <= one.score <= high:
            said = _("A corrected score lies from %(low)s to %(high)s.")
            errors["corrections"] = [said % {"low": f"{low:g}", "high": f"{high:g}"}]
        elif not one.reason.strip() or len(one.reason) > LONGEST_REASON or not is_storable(one.reason):
            errors["corrections"] = [_("Say why the judge's score should be another one.")]
    if len({(one.judgment, one.measure) for one in content.corrections}) != len(content.corrections):
        errors["corrections"] = [_("A score is corrected twice.")]
