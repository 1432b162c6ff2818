"""Experiments, their runs and what was said, judged, ranked, called and executed in them: read here, changed by the
verbs alone.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts import audit
from accounts.errors import Refusal
from accounts.people import person
from experiments.admin.base import Inline, LatestValues, Long, ReadOnly, is_visible, table
from experiments.library.search.excerpts import excerpt
from experiments.library.search.query import Phrase, Sought
from experiments.library.search.runs import beginnings
from experiments.models import (
    Ballot,
    Batch,
    BatchedCall,
    Call,
    Caller,
    ClientTalk,
    Event,
    Execution,
    Experiment,
    HandedCall,
    Judgment,
    Message,
    Participant,
    Passage,
    Run,
    RunReview,
    SandboxHost,
    SeatedPerson,
    Step,
)
from experiments.review import curation, flagging
from experiments.review.desk import transcript
from experiments.runs import admission

SPOKEN = (Passage.Kind.MESSAGE, Passage.Kind.REASONING)


class ReasonForm(ActionForm):
    """The reason beside the choice of what to do."""

    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=curation.LONGEST_REASON)


class ParticipantInline(Inline):
    model = Participant

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).select_related("model")


@admin.register(Experiment)
class ExperimentAdmin(Long):
    list_display = ["title", "workflow", "owner", "project", "visibility", "created"]
    list_filter = [("workflow", LatestValues), "visibility", "created"]
    search_fields = ["title", "owner__username"]
    ordering = ["-pk"]  # ids begin with the time, and the time has no index of its own
    inlines = [ParticipantInline]


table(Participant, "experiment seat model persona", search="=experiment__id model__slug")
table(SeatedPerson, "experiment seat person name expires seconds is_blind", search="=experiment__id person__username")


@admin.register(Run)
class RunAdmin(Long):
    """The page of a run has its transcript, also of a run that is not shared: `base.ReadOnly` records who opened it."""

    change_form_template = "admin/experiments/run/change_form.html"
    list_display = ["id", "experiment", "owner", "state", "stop_reason", "is_approved", "counts", "created", "ended"]
    list_filter = [
        *("state", ("experiment__workflow", LatestValues), "origin", "created"),
        *(("review__approved", admin.EmptyFieldListFilter), ("review__excluded", admin.EmptyFieldListFilter)),
    ]
    search_fields = ["id", "experiment__title", "experiment__owner__username"]
    list_select_related = ["experiment__owner", "review"]
    action_form = ReasonForm
    actions = ["stop_chosen", "approve_chosen", "exclude_chosen", "include_chosen", "publish_chosen", "scan_chosen"]
    readonly_fields = ["curation"]

    @admin.display(description=gettext_lazy("owner"))
    def owner(self, run: Run) -> str:
        return run.experiment.owner.username

    @admin.display(description=gettext_lazy("approved"), boolean=True)
    def is_approved(self, run: Run) -> bool:
        return bool(_review(run).approved)

    @admin.display(description=gettext_lazy("counts in ratings"), boolean=True)
    def counts(self, run: Run) -> bool:
        return _review(run).excluded is None

    @admin.display(description=gettext_lazy("curation"))
    def curation(self, run: Run) -> str:
        review = _review(run)
        approved = _("approved by %(by)s") % {"by": review.approved_by} if review.approved else _("not approved")
        return f"{approved}; {_('left out')}: {review.reason}" if review.excluded else approved

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **more: Any
    ) -> HttpResponse:
        run = more.get("obj")
        if isinstance(run, Run):
            context |= {"transcript": transcript(run, request.GET.get("page")), "is_shared": is_visible(run, request)}
        return super().render_change_form(request, context, *args, **more)

    @admin.action(description=gettext_lazy("Stop"))
    def stop_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        """Runs of others, too: an administrator is not their owner, and can end them. Logged in the admin's history."""

        def stop(run: Run) -> bool:
            if has_stopped := admission.stop(run, by=person(request)):
                self.log_change(request, run, _("Stopped"))
            return has_stopped

        self._each(request, runs, stop)

    @admin.action(description=gettext_lazy("Approve"))
    def approve_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.approve(run, by=person(request)))

    @admin.action(description=gettext_lazy("Leave out of ratings, with the reason"))
    def exclude_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        reason = request.POST.get("reason", "")
        self._each(request, runs, lambda run: curation.exclude(run, by=person(request), reason=reason))

    @admin.action(description=gettext_lazy("Count again"))
    def include_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.include(run, by=person(request)))

    @admin.action(description=gettext_lazy("Publish"))
    def publish_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.publish(run, by=person(request)))

    @admin.action(description=gettext_lazy("Scan for flags"))
    def scan_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        found = flagging.scan(runs.values_list("pk", flat=True))
        messages.success(request, _("%(n)s flags are new.") % {"n": found})

    def _each(self, request: HttpRequest, runs: QuerySet[Run], change: Callable[[Run], bool]) -> None:
        """One run after the other: what is refused for one is said, and does not hold back the others."""
        changed: list[bool] = []
        for run in runs.select_related("experiment__owner"):
            try:
                changed.append(change(run))
            except Refusal as error:
                messages.error(request, f"{run.pk}: {error}")
        if done := sum(changed):
            words = ngettext("%(n)s run was changed.", "%(n)s runs were changed.", done)
            messages.success(request, words % {"n": done})
        if unneeded := len(changed) - done:
            words = ngettext("%(n)s run needed no change.", "%(n)s runs needed no change.", unneeded)
            messages.info(request, words % {"n": unneeded})


table(ClientTalk, "id system owner run_id created", filters="system", search="=id =run__id owner__username")


def _review(run: Run) -> RunReview:
    return getattr(run, "review", None) or RunReview(run=run)


@admin.register(Message)
class MessageAdmin(Long):
    list_display = ["run_id", "turn", "seat", "model", "flags", "finish_reason", "created"]
    list_filter = [("seat", LatestValues), ("finish_reason", LatestValues), "superseded"]
    ordering = ["-pk"]
    search_fields = ["=run__id", "=id"]
    search_help_text = gettext_lazy(
        "Words of the message or its reasoning, or an id. Searches by words are on the audit log."
    )

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


table(
    Judgment,
    "run_id turn subject judge unscored_reason confidence created",
    filters=[("subject", LatestValues)],
    search="=run__id =judge",
    ordering=["-pk"],
)
table(
    Ballot,
    "run_id turn count reviewer model abstained_reason superseded created",
    filters="superseded",
    search="=run__id",
)
table(
    Step,
    "run_id key kind purpose seat turn state created",
    filters=[("kind", LatestValues), "state"],
    search="=run__id",
    ordering=["-pk"],
)
table(
    Call,
    "step attempt state model input_tokens output_tokens cost sent",
    filters=["state", "model", ("error_kind", LatestValues)],
    search="=run__id",
    ordering=["-pk"],
)
table(
    Batch,
    "id model owner state done total problem created sent ended",
    filters="state model",
    search="=id =remote_id owner__username",
)
table(Caller, "id host seen_until is_draining died started", filters="died is_draining", search="=id host")
table(HandedCall, "call_id caller_id stop_requested answered", search="=call__id =caller__id =call__run__id")
table(BatchedCall, "call_id batch_id share error_kind ended", search="=call__id =batch__id =call__run__id")
table(Event, "run_id seq type at", filters=[("type", LatestValues)], search="=run__id", ordering=["-pk"])
# Tests and results are large, so the list does without them.
table(
    Execution,
    "step turn seat state backend is_unsafe seconds error_kind created",
    filters="state is_unsafe backend",
    search="=run__id =seat",
)
table(SandboxHost, "name backend is_sufficient checked refusal", filters="is_sufficient backend", base=ReadOnly)
