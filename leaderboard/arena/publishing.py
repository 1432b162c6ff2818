"""Which prompts of the public arena everybody may read: those that their writers offered and a reviewer approved."""

import json
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict
from accounts.models import User
from experiments.models import Battle, Output, Sample
from experiments.workflows.base.flags import language_of
from leaderboard.models import ArenaBattle

WINNERS = {"first": "model_a", "second": "model_b", "tie": "tie", "both_bad": "tie (bothbad)"}
CHUNK = 500  # rows at once
Publication = ArenaBattle.Publication


def to_review() -> QuerySet[ArenaBattle]:
    """Votes whose writers agreed that the prompt is published, and that nobody has decided on, the oldest first."""
    rows = ArenaBattle.objects.filter(may_publish=True, publication="", battle__isnull=False)
    return rows.select_related("sample", "left", "right", "battle").order_by("created")


def decide(battle: ArenaBattle, *, by: User, approve: bool) -> None:
    """Publish the prompt with both answers, or never. Raises Conflict when it was decided before."""
    wanted = Publication.APPROVED if approve else Publication.REFUSED
    with transaction.atomic():
        rows = ArenaBattle.objects.filter(pk=battle.pk, may_publish=True, publication="", battle__isnull=False)
        if not rows.update(publication=wanted, decided_by=by):
            raise Conflict(_("This prompt was decided on before."))
        if approve:
            publish(battle)
        action = audit.Action.APPROVED if approve else audit.Action.DISAPPROVED
        audit.record(action, by=by, of=battle)


def publish(battle: ArenaBattle) -> None:
    """Copy the prompt and both answers to where everybody reads them. Call inside a transaction."""
    if battle.battle is None:
        return
    text = battle.sample.instruction
    rows = Sample.objects.filter(pk=battle.battle.sample_id)
    rows.update(instruction=text, language=language_of(text) or "")
    made = dict(Output.objects.filter(sample=battle.sample_id).values_list("contestant__name", "text"))
    Output.objects.bulk_create(
        Output(sample_id=battle.battle.sample_id, contestant=one, text=made[one.name]) for one in battle.shown
    )
    ArenaBattle.objects.filter(pk=battle.pk).update(publication=Publication.APPROVED)


def lines() -> Iterator[bytes]:
    """The published votes that count, one JSON object a line, with the column names of LMArena's preference data."""
    rows = ArenaBattle.objects.filter(publication=Publication.APPROVED, battle__void_reason="").order_by("created")
    rows = rows.select_related("battle__sample", "left", "right").prefetch_related("battle__sample__outputs")
    for one in rows.iterator(chunk_size=CHUNK):
        if one.battle is not None:
            yield json.dumps(_line(one, one.battle), ensure_ascii=False).encode() + b"\n"


def _line(one: ArenaBattle, counted: Battle) -> dict[str, Any]:
    """As shown: model_a stood left. judge: a pseudonym that holds on this board. tstamp: when it was asked, in
    seconds since 1970."""
    sample = counted.sample
    texts = {made.contestant_id: made.text for made in sample.outputs.all()}
    asked = {"role": "user", "content": sample.instruction}
    first, second = ([asked, {"role": "assistant", "content": texts[side.pk]}] for side in one.shown)
    judge = salted_hmac(f"leaderboard.arena.{one.board_id}", one.ballot, algorithm="sha256").hexdigest()[:12]
    return {
        "question_id": str(one.pk),
        "model_a": one.shown[0].name,
        "model_b": one.shown[1].name,
        "winner": WINNERS[one.choice],
        "judge": f"arena_user_{judge}",
        "conversation_a": first,
        "conversation_b": second,
        "turn": 1,
        "anony": True,
        "language": sample.language or "unknown",
        "tstamp": one.created.timestamp(),
    }
