"""What was said, judged, ranked and called in runs."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from accounts import audit
from accounts.people import person
from experiments.admin.base import LatestValues, Long
from experiments.library.search.excerpts import excerpt
from experiments.library.search.runs import beginnings
from experiments.library.search.sought import Phrase, Sought
from experiments.models import Ballot, Call, Event, Judgment, Message, Passage, Step

SPOKEN = (Passage.Kind.MESSAGE, Passage.Kind.REASONING)


@admin.register(Message)
class MessageAdmin(Long):
    list_display = ["run_id", "turn", "seat", "model", "flags", "finish_reason", "created"]
    list_filter = [("seat", LatestValues), ("finish_reason", LatestValues), "superseded"]
    ordering = ["-pk"]
    search_fields = ["=run__id", "=id"]
    search_help_text = gettext_lazy(
        "Words of the message or its reasoning, or the id of a message or run. Searches by words are on the audit log."
    )
    heavy = ("raw_text", "text", "reasoning", "filter", "operator", "parsed")
    raw_id_fields = ["run", "step", "call"]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if self.has_view_permission(request) and _words(request):
            audit.record(audit.Action.RUNS_SEARCHED, by=person(request), target="message", name=request.GET["q"])
        return super().changelist_view(request, extra_context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        rows = super().get_queryset(request)
        return rows.defer(None).defer("filter", "operator", "parsed") if _words(request) else rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Message], search_term: str
    ) -> tuple[QuerySet[Message], bool]:
        """By words of any run, from the index of the search; by id as everywhere."""
        if not search_term.strip() or _is_id(search_term):
            return super().get_search_results(request, queryset, search_term)
        sought = Sought(beginnings(search_term))
        found = Passage.objects.filter(kind__in=SPOKEN, words__matches=sought) if sought else Passage.objects.none()
        return queryset.filter(pk__in=found.order_by().values("message")), False

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        shown: list[Any] = list(super().get_list_display(request))
        if not (phrases := _words(request)):
            return shown

        @admin.display(description=gettext_lazy("found"))
        def found(message: Message) -> SafeString:
            """The words among what stands around them; text alone, whatever a model wrote."""
            parts = excerpt([message.text, message.raw_text, message.reasoning], phrases)
            return format_html_join("", "<{0}>{1}</{0}>", (("mark" if p.is_found else "span", p.text) for p in parts))

        return [shown[0], found, *shown[1:]]


def _words(request: HttpRequest) -> tuple[Phrase, ...]:
    """What the list is searched for, unless that is an id."""
    asked = request.GET.get("q", "")
    return () if _is_id(asked) else beginnings(asked)


def _is_id(text: str) -> bool:
    try:
        UUID(text.strip())
    except ValueError:
        return False
    return True


@admin.register(Judgment)
class JudgmentAdmin(Long):
    list_display = ["run_id", "turn", "subject", "judge", "unscored_reason", "confidence", "created"]
    list_filter = [("subject", LatestValues)]
    ordering = ["-pk"]
    search_fields = ["=run__id", "=judge"]
    heavy = ("rationale", "dynamics", "scores")
    raw_id_fields = ["run", "step", "call"]


@admin.register(Ballot)
class BallotAdmin(Long):
    list_display = ["run_id", "turn", "count", "reviewer", "model", "abstained_reason", "superseded", "created"]
    list_filter = ["superseded"]
    search_fields = ["=run__id"]
    raw_id_fields = ["run", "step", "call"]


@admin.register(Step)
class StepAdmin(Long):
    list_display = ["run_id", "key", "kind", "purpose", "seat", "turn", "state", "created"]
    list_filter = [("kind", LatestValues), "state"]
    ordering = ["-pk"]
    search_fields = ["=run__id"]
    heavy = ("data",)
    raw_id_fields = ["run"]


@admin.register(Call)
class CallAdmin(Long):
    list_display = ["step", "attempt", "state", "model", "input_tokens", "output_tokens", "cost", "sent"]
    list_filter = ["state", "model", ("error_kind", LatestValues)]
    ordering = ["-pk"]
    list_select_related = ["step", "model"]
    search_fields = ["=run__id"]
    raw_id_fields = ["run", "step"]
    heavy = ("request", "text", "reasoning", "logprobs", "error")


@admin.register(Event)
class EventAdmin(Long):
    list_display = ["run_id", "seq", "type", "at"]
    list_filter = [("type", LatestValues)]
    ordering = ["-pk"]
    search_fields = ["=run__id"]
    heavy = ("data",)
    raw_id_fields = ["run"]
