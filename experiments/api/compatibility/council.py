"""LLM Council: conversations that are opened first and asked then, a question at a time or several ahead."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.compatibility import council_shapes as shapes
from experiments.api.compatibility.council_cast import cast_for
from experiments.api.compatibility.council_stream import Telling
from experiments.api.compatibility.views import REFUSALS, ClientView, NotYet, ProviderFailed, described
from experiments.api.compatibility.waiting import entry_of, follow, wait
from experiments.api.idempotency import once
from experiments.api.requests import idempotency_key, person, validated
from experiments.models import ClientTalk, Run
from experiments.runs import actions
from experiments.runs.admission import require_role
from experiments.runs.steering.steering import ask_further, locked
from experiments.workflows.council import WORKFLOW

COUNCIL = ClientTalk.System.COUNCIL
STREAM = {(200, "text/event-stream"): OpenApiTypes.STR, **REFUSALS}
LAST_EVENT = OpenApiParameter(
    "Last-Event-ID", str, OpenApiParameter.HEADER, description="The id of the last event that was read."
)
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Asking(serializers.Serializer[Any]):
    content = serializers.CharField(trim_whitespace=False)


class ConversationsView(ClientView):
    scope = Scope.WRITE

    @described("compat_conversations", None, shapes.ConversationEntry(many=True))
    def get(self, request: Request) -> Response:
        """Your conversations, the newest first."""
        return Response(shapes.listed(_conversations(request)))

    @described("compat_conversation_create", None, shapes.Conversation)
    def post(self, request: Request) -> Response:
        """Open a conversation. Nothing is asked yet."""
        require_role(person(request))
        talk = ClientTalk.objects.create(owner=person(request), system=COUNCIL)
        return Response(shapes.conversation(talk))


class ConversationView(ClientView):
    """A conversation with all that was said; the answer under way is not part of it yet."""

    @described("compat_conversation", None, shapes.Conversation)
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(shapes.conversation(_conversation(request, pk)))


class MessageView(ClientView):
    """Ask the council, and wait for what it concludes. It goes on when the client does not wait."""

    @described("compat_conversation_message", Asking, shapes.CouncilAnswer, spends=True)
    def post(self, request: Request, pk: UUID) -> Response:
        run, turn = _asked(request, pk)
        found = wait(request, run.pk, lambda: shapes.answered(Run.objects.get(pk=run.pk), turn))
        if found is None:
            raise NotYet(_("The council is still deliberating. It goes on: read the conversation later."))
        if found is shapes.Ended.WITHOUT_ANSWER:
            raise ProviderFailed(shapes.why_none(Run.objects.get(pk=run.pk)))
        fresh = Run.objects.select_related("experiment").get(pk=run.pk)
        return Response(shapes.deliberated(fresh, turn))


class StreamView(ClientView):
    """The deliberation as it happens, as server-sent events. Whoever was cut off reads on with the id of the last
    event; others may read beside.
    """

    @described("compat_conversation_ask", Asking, STREAM, spends=True, parameters=[LAST_EVENT])
    def post(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Ask the council, and follow what it does."""
        return _told(request, *_asked(request, pk))

    @described("compat_conversation_follow", None, STREAM, parameters=[LAST_EVENT])
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Follow the answer to the question that was asked last: an addition of ours."""
        run = _conversation(request, pk).run
        if run is None:
            raise Conflict(_("Nothing has been asked in this conversation yet."))
        return _told(request, run, shapes.questions_of(run))


def _conversations(request: Request) -> Any:
    rows = ClientTalk.objects.owned_by(person(request)).filter(system=COUNCIL)
    return rows.select_related("run__experiment")


def _conversation(request: Request, pk: UUID) -> ClientTalk:
    talk: ClientTalk = get_object_or_404(_conversations(request), pk=pk)
    return talk


def _asked(request: Request, pk: UUID) -> tuple[Run, int]:
    """The run to which a question was put, and its turn."""
    talk = _conversation(request, pk)
    text = validated(Asking, request)["content"]

    def act() -> dict[str, int]:
        with transaction.atomic():
            return {"turn": _ask(ClientTalk.objects.select_for_update().get(pk=talk.pk), text)}

    key = idempotency_key(request)
    turn = once(act, by=person(request), key=key, request=("conversation", str(pk), text))["turn"]
    fresh = _conversation(request, pk).run
    if fresh is None:
        raise LookupError("a question was asked of nobody")
    return fresh, turn


def _ask(talk: ClientTalk, text: str) -> int:
    """The first question sets the experiment up; every other one goes to its run. Call inside a transaction."""
    if talk.run is None:
        config = {"question": text}
        experiment = actions.create(owner=talk.owner, workflow=WORKFLOW.slug, config=config, cast=cast_for(talk.owner))
        [talk.run] = actions.start(experiment, by=talk.owner)
        talk.save(update_fields=["run"])
        return 1
    locked(talk.run)  # of two questions at the same time each has a turn of its own
    ask_further(talk.run, by=talk.owner, text=text)
    return shapes.questions_of(talk.run)


def _told(request: Request, run: Run, turn: int) -> HttpResponseBase:
    telling = Telling(run.pk, turn, request.headers.get("Last-Event-ID", ""))
    frames = follow(entry_of(request, run.pk), telling.more)
    return StreamingHttpResponse(frames, content_type="text/event-stream", headers=HEADERS)
