"""LLM Council: conversations that are opened first and asked then, a question at a time or several ahead.

The client knows stages, and one set of labels for all. As every reviewer is shown the answers in an order of its own,
the labels in reviews and ballots are translated: Response A is the answer of the first member that gave one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import Conflict, Invalid
from accounts.models import User
from accounts.scopes import Scope
from experiments.api.compatibility.messages import slugs_of
from experiments.api.compatibility.talks import run_of
from experiments.api.compatibility.views import REFUSALS, ClientView, NotYet, ProviderFailed, askable_slugs, described
from experiments.api.compatibility.waiting import entry_of, follow, wait
from experiments.api.idempotency import once
from experiments.api.requests import idempotency_key, person, validated
from experiments.api.shapes import shape
from experiments.models import ClientTalk, Event, Experiment, Message, Run
from experiments.runs import actions
from experiments.runs.admission import require_role
from experiments.runs.steering.steering import ask_further, locked
from experiments.workflows.base.labels import labels_for
from experiments.workflows.base.records import StageStarted
from experiments.workflows.council import WORKFLOW
from experiments.workflows.council.config import MEMBERS
from experiments.workflows.council.pages.rankings import ranking_of_turn
from experiments.workflows.council.records import Titled
from experiments.workflows.council.reviews import words

COUNCIL = ClientTalk.System.COUNCIL
USUAL_MEMBERS = 4
UNTITLED = "New Conversation"
LABEL = re.compile(r"Response ([A-Z]{1,2})\b")
TOLD = ("stage_started", "ballots_counted", "message_completed", "concluded_by_rank", "titled", "turn_completed")
UNDER_WAY = (Run.State.QUEUED, Run.State.RUNNING, Run.State.STOPPING)
STREAM = {(200, "text/event-stream"): OpenApiTypes.STR, **REFUSALS}
LAST_EVENT = OpenApiParameter(
    "Last-Event-ID", str, OpenApiParameter.HEADER, description="The id of the last event that was read."
)
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

ConversationEntry = shape("ConversationEntry", id=UUID, created_at=datetime, title=str, message_count=int)
Conversation = shape(
    "Conversation",
    doc="run: what the rest of the API calls it, null until something is asked.",
    id=UUID,
    created_at=datetime,
    title=str,
    messages=list[dict[str, Any]],
    run=UUID | None,
    state=str | None,
)
CouncilOpinion = shape("CouncilOpinion", model=str, response=str)
CouncilReview = shape(
    "CouncilReview",
    doc="unread_reason: why parsed_ranking is empty, where it is.",
    model=str,
    ranking=str,
    parsed_ranking=list[str],
    unread_reason=str,
)
CouncilAnswer = shape(
    "CouncilAnswer",
    stage1=CouncilOpinion(many=True),
    stage2=CouncilReview(many=True),
    stage3=CouncilOpinion(),
    metadata=dict,
)
Piece = dict[str, object]


class Ended(Enum):
    WITH_ANSWER = "with answer"
    WITHOUT_ANSWER = "without answer"


class Asking(serializers.Serializer[Any]):
    content = serializers.CharField(trim_whitespace=False)


class ConversationsView(ClientView):
    scope = Scope.WRITE

    @described("compat_conversations", None, ConversationEntry(many=True))
    def get(self, request: Request) -> Response:
        """Your conversations, newest first."""
        return Response(
            [
                {**_head(talk), "message_count": len(_concluded(talk.run)) * 2 if talk.run else 0}
                for talk in _conversations(request)
            ]
        )

    @described("compat_conversation_create", None, Conversation)
    def post(self, request: Request) -> Response:
        """Create a conversation. No model is called yet."""
        require_role(person(request))
        talk = ClientTalk.objects.create(owner=person(request), system=COUNCIL)
        return Response(conversation(talk))


class ConversationView(ClientView):
    """A conversation with all its messages, without an answer that is still being written."""

    @described("compat_conversation", None, Conversation)
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(conversation(_conversation(request, pk)))


class MessageView(ClientView):
    """Ask the council and wait for its conclusion. The council continues if the client disconnects."""

    @described("compat_conversation_message", Asking, CouncilAnswer, spends=True)
    def post(self, request: Request, pk: UUID) -> Response:
        run, turn = _asked(request, pk)
        found = wait(request, run.pk, lambda: answered(Run.objects.get(pk=run.pk), turn))
        if found is None:
            raise NotYet(_("The council is still at work, and continues. Read the conversation later."))
        if found is Ended.WITHOUT_ANSWER:
            raise ProviderFailed(why_none(Run.objects.get(pk=run.pk)))
        return Response(deliberated(Run.objects.select_related("experiment").get(pk=run.pk), turn))


class StreamView(ClientView):
    """The deliberation as it happens, as server-sent events. Whoever was cut off reads on with the id of the last
    event; others may read beside.
    """

    @described("compat_conversation_ask", Asking, STREAM, spends=True, parameters=[LAST_EVENT])
    def post(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Ask the council and follow its progress."""
        return self._streamed(request, *_asked(request, pk))

    @described("compat_conversation_follow", None, STREAM, parameters=[LAST_EVENT])
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Follow the answer to the last question. LLM Council has no such route."""
        run = _conversation(request, pk).run
        if run is None:
            raise Conflict(_("Nothing has been asked in this conversation yet."))
        return self._streamed(request, run, questions_of(run))

    def _streamed(self, request: Request, run: Run, turn: int) -> HttpResponseBase:
        telling = Telling(run.pk, turn, request.headers.get("Last-Event-ID", ""))
        frames = follow(entry_of(request, run.pk), telling.more)
        return StreamingHttpResponse(frames, content_type="text/event-stream", headers=HEADERS)


def _conversations(request: Request) -> QuerySet[ClientTalk]:
    rows = ClientTalk.objects.owned_by(person(request)).filter(system=COUNCIL)
    return rows.select_related("run__experiment")


def _conversation(request: Request, pk: UUID) -> ClientTalk:
    return get_object_or_404(_conversations(request), pk=pk)


def _asked(request: Request, pk: UUID) -> tuple[Run, int]:
    """The run to which a question was put, and its turn."""
    talk = _conversation(request, pk)
    text = validated(Asking, request, allow_unknown=True)["content"]

    def act() -> dict[str, int]:
        with transaction.atomic():
            return {"turn": _ask(ClientTalk.objects.select_for_update().get(pk=talk.pk), text)}

    key = idempotency_key(request)
    turn = once(act, by=person(request), key=key, request=("conversation", str(pk), text))["turn"]
    return run_of(_conversation(request, pk)), turn


def _ask(talk: ClientTalk, text: str) -> int:
    """The first question sets the experiment up; every other one goes to its run. Call inside a transaction."""
    if talk.run is None:
        config = {"question": text}
        experiment = actions.create(owner=talk.owner, workflow=WORKFLOW.slug, config=config, cast=_cast_for(talk.owner))
        [talk.run] = actions.start(experiment, by=talk.owner)
        talk.save(update_fields=["run"])
        return 1
    locked(talk.run)  # of two questions at the same time each has a turn of its own
    ask_further(talk.run, by=talk.owner, text=text)
    return questions_of(talk.run)


def _cast_for(person: User) -> dict[str, object]:
    """The council that the person asked last, as far as its models can be asked; otherwise the first few models, with
    another one as the chair where there is another one.
    """
    slugs = askable_slugs(person)
    if not slugs:
        raise Invalid({"cast": [_("No model is available.")]})
    last = Experiment.objects.owned_by(person).filter(workflow=WORKFLOW.slug).order_by("-created").first()
    seated = list(last.participants.select_related("model")) if last else []
    if seated and all(one.model.slug in slugs for one in seated if one.seat != "title"):
        return {one.seat: {"model": one.model.slug, "params": one.params} for one in seated if one.seat != "title"}
    members = slugs[:USUAL_MEMBERS] if len(slugs) > 1 else slugs * 2
    chair = next((slug for slug in slugs if slug not in members), members[0])
    return {**{seat: {"model": slug} for seat, slug in zip(MEMBERS, members, strict=False)}, "chair": {"model": chair}}


def conversation(talk: ClientTalk) -> dict[str, object]:
    """Question and answer in turn; of a question under way only itself."""
    shown: list[dict[str, Any]] = []
    if run := talk.run:
        concluded = _concluded(run)
        for asked in run.messages.filter(seat="person").order_by("seq"):
            shown.append({"role": "user", "content": asked.raw_text})
            if asked.turn in concluded:
                shown.append({"role": "assistant", **deliberated(run, asked.turn)})
    state = {"run": str(run.pk) if run else None, "state": run.state if run else None}
    return {**_head(talk), "messages": shown, **state}


def _head(talk: ClientTalk) -> dict[str, object]:
    title = talk.run.experiment.title if talk.run else UNTITLED
    return {"id": str(talk.pk), "created_at": talk.created.isoformat(), "title": title}


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
    return run.error or _("The council was stopped before its conclusion.")


def stage1(run: Run, turn: int) -> list[dict[str, object]]:
    slugs = slugs_of(run)
    return [{"model": slugs[said.seat], "response": said.text} for said in _answers(run, turn)]


def stage2(run: Run, turn: int) -> list[dict[str, object]]:
    """Every review with its labels translated, and what was read out of it."""
    slugs, labels = slugs_of(run), _labels(run, turn)
    reviews = {said.seat: words(said.text) for said in _said(run, turn, "review")}
    return [
        {
            "model": slugs[ballot.reviewer],
            "ranking": _translated(reviews.get(ballot.reviewer, ""), ballot.labels, labels),
            "parsed_ranking": [labels[seat] for group in ballot.order or [] for seat in group if seat in labels],
            "unread_reason": ballot.abstained_reason,
        }
        for ballot in run.ballots.filter(turn=turn, superseded=False)
    ]


def _translated(text: str, own: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """A review with the labels that all share in place of the reviewer's own."""
    return LABEL.sub(lambda found: labels.get(own.get(found[0], ""), found[0]), text)


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
    standings = list(found.standings) if found and found.ballots else []
    standings.sort(key=lambda one: (one.mean_rank.value is None, one.mean_rank.value or 0.0))
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


def _concluded(run: Run) -> list[int]:
    turns = run.steps.filter(purpose="turn_completed").order_by("turn").values_list("turn", flat=True)
    return [turn for turn in turns if turn is not None]


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


@dataclass(slots=True)
class Telling:
    """What has been told of a turn. last: the id of the last event that a client has read, which may be another
    request's: all that came before it is passed over.
    """

    run_id: UUID
    turn: int
    last: str = ""
    seen: int = 0
    is_answered: bool = False
    told: set[str] = field(default_factory=set)

    def more(self) -> tuple[list[str], bool]:
        """The frames that are new, and whether they are the last."""
        run = Run.objects.select_related("experiment").get(pk=self.run_id)
        events = list(run.events.filter(seq__gt=self.seen, type__in=TOLD).order_by("seq"))
        frames: list[str] = []
        for event in events:
            self.seen = event.seq
            frames += self._frames(event.seq, self._pieces(run, event))
        if end := self._end(run):
            frames += self._frames(run.last_seq, [end])
        return frames, bool(end)

    def _pieces(self, run: Run, event: Event) -> Iterator[Piece]:
        if event.type == "titled" and self.turn == 1:
            yield {"type": "title_complete", "data": {"title": Titled.read(event.data).title}}
        elif event.data.get("turn") == self.turn and not self.is_answered:
            yield from self._of_turn(run, event)

    def _of_turn(self, run: Run, event: Event) -> Iterator[Piece]:
        stage = StageStarted.read(event.data).stage if event.type == "stage_started" else ""
        if stage == "answers":
            yield from self._once({"type": "stage1_start"})
        elif stage == "reviews":
            yield from self._opinions(run)
            yield from self._once({"type": "stage2_start"})
        elif event.type == "ballots_counted":
            yield from self._opinions(run)
            if "stage2_start" in self.told:
                found = {"data": stage2(run, self.turn), "metadata": metadata(run, self.turn)}
                yield from self._once({"type": "stage2_complete", **found})
        elif stage == "conclusion":
            yield from self._once({"type": "stage3_start"})
        elif event.type == "turn_completed":
            self.is_answered = True
            yield from self._once({"type": "stage3_complete", "data": stage3(run, self.turn)})

    def _opinions(self, run: Run) -> Iterator[Piece]:
        yield from self._once({"type": "stage1_complete", "data": stage1(run, self.turn)})

    def _once(self, piece: Piece) -> Iterator[Piece]:
        if piece["type"] not in self.told:
            self.told.add(str(piece["type"]))
            yield piece

    def _end(self, run: Run) -> Piece | None:
        """The question is answered and nothing of it is under way, a title neither; or it never will be."""
        if self.is_answered:
            goes_on = run.state in UNDER_WAY and questions_of(run) == self.turn
            return None if goes_on else {"type": "complete"}
        return {"type": "error", "message": why_none(run)} if run.is_over else None

    def _frames(self, seq: int, pieces: Any) -> Iterator[str]:
        for number, piece in enumerate(pieces):
            id_ = f"{seq}-{number}"
            if _place(id_) > _place(self.last):
                yield f"id: {id_}\ndata: {json.dumps(piece, ensure_ascii=False)}\n\n"


def _place(id_: str) -> tuple[int, ...]:
    """Where an event stands; before all others what is no id of ours."""
    parts = id_.split("-")
    return tuple(map(int, parts)) if len(parts) == 2 and all(p.isascii() and p.isdigit() for p in parts) else (-1, -1)
