"""Experiments and their runs: read here, changed by the verbs alone."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.paginator import Page, Paginator
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.errors import Refusal
from accounts.people import person
from experiments.admin.base import Long, is_visible
from experiments.models import ClientTalk, Experiment, Judgment, Message, Participant, Run, RunReview
from experiments.review import curation, flagging
from experiments.runs import actions

MESSAGES_SHOWN = 100  # on one page of a transcript
MOST_JUDGMENTS = 200  # of turns without messages
Deed = Callable[[Run], bool]


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, with the judgments of its turn where it is the last of the turn."""

    message: Message
    judgments: list[Judgment]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of what was said. others: judgments of turns in which there are no messages, on the last page."""

    page: Page[Message]
    entries: list[Entry]
    others: list[Judgment]


def transcript(run: Run, number: str | None) -> Transcript:
    """number: of the page, as its address says it."""
    page = Paginator(run.messages.order_by("seq"), MESSAGES_SHOWN).get_page(number)
    shown = list(page)
    of_turns = run.messages.filter(turn__in={message.turn for message in shown}).order_by()
    last = dict(of_turns.values_list("turn").annotate(Max("seq")))
    judged: defaultdict[int, list[Judgment]] = defaultdict(list)
    for judgment in run.judgments.filter(turn__in=last):
        judged[judgment.turn].append(judgment)
    entries = [Entry(one, judged[one.turn] if one.seq == last[one.turn] else []) for one in shown]
    others = run.judgments.exclude(turn__in=run.messages.order_by().values("turn"))
    return Transcript(page, entries, [] if page.has_next() else list(others[:MOST_JUDGMENTS]))


class ReasonForm(ActionForm):
    """The reason beside the choice of what to do."""

    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=curation.LONGEST_REASON)


class ParticipantInline(admin.TabularInline[Participant, Experiment]):
    model = Participant
    extra = 0
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).select_related("model")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Experiment)
class ExperimentAdmin(Long):
    list_display = ["title", "workflow", "owner", "project", "visibility", "created"]
    list_filter = ["workflow", "visibility", "created"]
    list_select_related = ["owner", "project"]
    search_fields = ["title", "owner__username"]
    date_hierarchy = None  # it would read the ends of the whole table for every list
    heavy = ("config",)
    inlines = [ParticipantInline]


@admin.register(Participant)
class ParticipantAdmin(Long):
    list_display = ["experiment", "seat", "model", "persona"]
    list_select_related = ["experiment", "model"]
    search_fields = ["=experiment__id", "model__slug"]
    raw_id_fields = ["experiment"]


@admin.register(Run)
class RunAdmin(Long):
    """The page of a run has its transcript, also of a run that is not shared: `base.ReadOnly` records who opened it."""

    change_form_template = "admin/experiments/run/change_form.html"
    list_display = ["id", "experiment", "owner", "state", "stop_reason", "is_approved", "counts", "created", "ended"]
    list_filter = [
        *("state", "experiment__workflow", "origin", "created"),
        *(("review__approved", admin.EmptyFieldListFilter), ("review__excluded", admin.EmptyFieldListFilter)),
    ]
    search_fields = ["id", "experiment__title", "experiment__owner__username"]
    list_select_related = ["experiment__owner", "review"]
    raw_id_fields = ["parent", "branched_from"]
    heavy = ("overrides", "error")
    action_form = ReasonForm
    actions = ["stop_chosen", "approve_chosen", "exclude_chosen", "include_chosen", "publish_chosen", "scan_chosen"]
    readonly_fields = ["curation"]

    @admin.display(description=gettext_lazy("owner"))
    def owner(self, run: Run) -> str:
        return run.experiment.owner.username

    @admin.display(description=gettext_lazy("approved"), boolean=True)
    def is_approved(self, run: Run) -> bool:
        return bool(_review(run).approved)

    @admin.display(description=gettext_lazy("in ladders"), boolean=True)
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
        self._each(request, runs, lambda run: actions.stop(run, by=person(request)))

    @admin.action(description=gettext_lazy("Approve"))
    def approve_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.approve(run, by=person(request)))

    @admin.action(description=gettext_lazy("Leave out of ladders, with the reason"))
    def exclude_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        reason = request.POST.get("reason", "")
        self._each(request, runs, lambda run: curation.exclude(run, by=person(request), reason=reason))

    @admin.action(description=gettext_lazy("Let count again"))
    def include_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.include(run, by=person(request)))

    @admin.action(description=gettext_lazy("Publish"))
    def publish_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda run: curation.publish(run, by=person(request)))

    @admin.action(description=gettext_lazy("Scan for flags"))
    def scan_chosen(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        found = flagging.scan(runs.values_list("pk", flat=True))
        messages.success(request, _("%(n)s flags are new.") % {"n": found})

    def _each(self, request: HttpRequest, runs: QuerySet[Run], deed: Deed) -> None:
        """One run after the other: what is refused for one is said, and does not hold back the others."""
        done = 0
        for run in runs.select_related("experiment__owner"):
            try:
                done += deed(run)
            except Refusal as error:
                messages.error(request, f"{run.pk}: {error}")
        if done:
            messages.success(
                request, ngettext("%(n)s run was changed.", "%(n)s runs were changed.", done) % {"n": done}
            )


@admin.register(ClientTalk)
class ClientTalkAdmin(Long):
    list_display = ["id", "system", "owner", "run_id", "created"]
    list_filter = ["system"]
    list_select_related = ["owner"]
    search_fields = ["=id", "=run__id", "owner__username"]
    raw_id_fields = ["run"]


def _review(run: Run) -> RunReview:
    return getattr(run, "review", None) or RunReview(run=run)
