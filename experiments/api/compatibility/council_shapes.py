"""What a council did, in the shapes that the client of LLM Council knows: stages, and what the ballots say together.

Every reviewer is shown the answers in an order of its own. The client knows one set of labels for all, so that the
labels in reviews and ballots are translated here: Response A is the answer of the first member that gave one.
"""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from experiments.api.compatibility.shapes import slugs_of
from experiments.models import Ballot, ClientTalk, Message, Run
from experiments.workflows.base.labels import labels_for
from experiments.workflows.council.config import MEMBERS
from experiments.workflows.council.pages.rankings import Standing, ranking_of_turn
from experiments.workflows.council.reviews import words

UNTITLED = "New Conversation"
LABEL = re.compile(r"Response ([A-Z]{1,2})\b")


class ConversationEntry(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    title = serializers.CharField()
    message_count = serializers.IntegerField()


class Conversation(serializers.Serializer[Any]):
    """run: what the rest of the API calls it, null until something is asked."""

    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    title = serializers.CharField()
    messages = serializers.ListField(child=serializers.DictField())
    run = serializers.UUIDField(allow_null=True)
    state = serializers.CharField(allow_null=True)


class CouncilOpinion(serializers.Serializer[Any]):
    model = serializers.CharField()
    response = serializers.CharField()


class CouncilReview(serializers.Serializer[Any]):
    """unread_reason: why parsed_ranking is empty, where it is."""

    model = serializers.CharField()
    ranking = serializers.CharField()
    parsed_ranking = serializers.ListField(child=serializers.CharField())
    unread_reason = serializers.CharField()


class CouncilAnswer(serializers.Serializer[Any]):
    stage1 = CouncilOpinion(many=True)
    stage2 = CouncilReview(many=True)
    stage3 = CouncilOpinion()
    metadata = serializers.DictField()


class Ended(Enum):
    WITH_ANSWER = "with answer"
    WITHOUT_ANSWER = "without answer"


def listed(talks: Iterable[ClientTalk]) -> list[dict[str, object]]:
    return [
        {
            "id": str(talk.pk),
            "created_at": talk.created.isoformat(),
            "title": _title(talk),
            "message_count": len(_concluded(talk.run)) * 2 if talk.run else 0,
        }
        for talk in talks
    ]


def conversation(talk: ClientTalk) -> dict[str, object]:
    head = {"id": str(talk.pk), "created_at": talk.created.isoformat(), "title": _title(talk)}
    state = {"run": str(talk.run_id) if talk.run else None, "state": talk.run.state if talk.run else None}
    return {**head, "messages": _messages(talk.run) if talk.run else [], **state}


def deliberated(run: Run, turn: int) -> dict[str, object]:
    return {
        "stage1": stage1(run, turn),
        "stage2": stage2(run, turn),
        "stage3": stage3(run, turn),
        "metadata": metadata(run, turn),
    }


def questions_of(run: Run) -> int:
    """How many questions have been asked, those included that wait for their turn."""
    return 1 + run.steps.filter(kind="offer", state="done", data__action="send").count()


def answered(run: Run, turn: int) -> Ended | None:
    """Whether the question of a turn has been answered; None while that may still come."""
    if turn in _concluded(run):
        return Ended.WITH_ANSWER
    return Ended.WITHOUT_ANSWER if run.is_over else None


def why_none(run: Run) -> str:
    return run.error or _("The council was stopped before it had concluded.")


def stage1(run: Run, turn: int) -> list[dict[str, object]]:
    slugs = slugs_of(run)
    return [{"model": slugs[said.seat], "response": said.text} for said in _answers(run, turn)]


def stage2(run: Run, turn: int) -> list[dict[str, object]]:
    """Every review with its labels translated, and what was read out of it."""
    slugs, labels = slugs_of(run), _labels(run, turn)
    reviews = {said.seat: said for said in _said(run, turn, "review")}
    ballots = run.ballots.filter(turn=turn, superseded=False)
    return [_review(ballot, reviews.get(ballot.reviewer), slugs, labels) for ballot in ballots]


def stage3(run: Run, turn: int) -> dict[str, object] | None:
    """The conclusion; the best ranked answer, marked as such, where no chair could conclude."""
    slugs = slugs_of(run)
    said = _said(run, turn, "conclusion").last()
    if said:
        model = said.call.model.slug if said.call else slugs["chair"]
        return {"model": model, "response": said.text}
    instead = run.steps.filter(turn=turn, purpose="concluded_by_rank").order_by("id").last()
    best = run.messages.filter(step__key=instead.data["message"]).first() if instead else None
    return {"model": slugs[best.seat], "response": best.text, "by_rank": True} if best else None


def metadata(run: Run, turn: int) -> dict[str, object]:
    slugs = slugs_of(run)
    found = ranking_of_turn(run, turn)
    standings = sorted(found.standings, key=_place) if found and found.ballots else []
    return {
        "label_to_model": {label: slugs[seat] for seat, label in _labels(run, turn).items()},
        "aggregate_rankings": [
            {
                "model": slugs[one.seat],
                "average_rank": None if one.mean_rank.value is None else round(one.mean_rank.value, 2),
                "rankings_count": one.votes,
            }
            for one in standings
        ],
    }


def _place(one: Standing) -> tuple[bool, float]:
    return one.mean_rank.value is None, one.mean_rank.value or 0.0


def _title(talk: ClientTalk) -> str:
    return talk.run.experiment.title if talk.run else UNTITLED


def _concluded(run: Run) -> list[int]:
    turns = run.steps.filter(purpose="turn_completed").order_by("turn").values_list("turn", flat=True)
    return [turn for turn in turns if turn is not None]


def _messages(run: Run) -> list[dict[str, Any]]:
    """Question and answer in turn; of a question under way only itself."""
    shown: list[dict[str, Any]] = []
    concluded = _concluded(run)
    for asked in run.messages.filter(seat="person").order_by("seq"):
        shown.append({"role": "user", "content": asked.raw_text})
        if asked.turn in concluded:
            shown.append({"role": "assistant", **deliberated(run, asked.turn)})
    return shown


def _said(run: Run, turn: int, purpose: str) -> Any:
    rows = run.messages.filter(turn=turn, step__purpose=purpose, superseded=False).exclude(call=None)
    return rows.select_related("call__model").order_by("seq")


def _answers(run: Run, turn: int) -> list[Message]:
    """The answers in the order of the seats."""
    latest = {said.seat: said for said in _said(run, turn, "reply") if said.text.strip()}
    return [latest[seat] for seat in MEMBERS if seat in latest]


def _labels(run: Run, turn: int) -> dict[str, str]:
    """Seats to the labels that the client shows."""
    seats = [said.seat for said in _answers(run, turn)]
    return dict(zip(seats, labels_for(len(seats)), strict=True))


def _review(
    ballot: Ballot, said: Message | None, slugs: Mapping[str, str], labels: Mapping[str, str]
) -> dict[str, Any]:
    order = [labels[seat] for group in ballot.order or [] for seat in group if seat in labels]
    return {
        "model": slugs[ballot.reviewer],
        "ranking": _translated(words(said.text), ballot.labels, labels) if said else "",
        "parsed_ranking": order,
        "unread_reason": ballot.abstained_reason,
    }


def _translated(text: str, own: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """A review with the labels that everybody shares in place of the reviewer's own."""

    def shared(found: re.Match[str]) -> str:
        seat = own.get(found[0])
        return labels.get(seat, found[0]) if seat else found[0]

    return LABEL.sub(shared, text)
