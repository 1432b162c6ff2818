"""Experiments and their runs: read here, changed by the verbs alone."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.people import person
from experiments import actions
from experiments.admin.base import Long
from experiments.models import ClientTalk, Experiment, Participant, Run, RunReview
from experiments.refusals import NotAllowed, NotOffered
from experiments.reviews import curation, scanning

MOST_SHOWN = 200  # messages on the page of a run
Deed = Callable[[Run], bool]


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
    """The page of a run shows its transcript as it can be read; the run's own page shows all of it."""

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
    readonly_fields = ["page", "transcript", "curation"]

    @admin.display(description=gettext_lazy("owner"))
    def owner(self, run: Run) -> str:
        return run.experiment.owner.username

    @admin.display(description=gettext_lazy("approved"), boolean=True)
    def is_approved(self, run: Run) -> bool:
        return bool(_review(run).approved)

    @admin.display(description=gettext_lazy("in ladders"), boolean=True)
    def counts(self, run: Run) -> bool:
        return _review(run).excluded is None

    @admin.display(description=gettext_lazy("page"))
    def page(self, run: Run) -> SafeString:
        return format_html('<a href="{}">{}</a>', run.get_absolute_url(), _("Open the run"))

    @admin.display(description=gettext_lazy("curation"))
    def curation(self, run: Run) -> str:
        review = _review(run)
        approved = _("approved by %(by)s") % {"by": review.approved_by} if review.approved else _("not approved")
        return f"{approved}; {_('left out')}: {review.reason}" if review.excluded else approved

    @admin.display(description=gettext_lazy("transcript"))
    def transcript(self, run: Run) -> SafeString:
        """What was said, in order; text alone, whatever a model wrote."""
        rows = run.messages.order_by("seq").values_list("turn", "seat", "model", "text", "flags")[:MOST_SHOWN]
        lines = ((turn, seat, model, ", ".join(flags), text) for turn, seat, model, text, flags in rows)
        return format_html_join("", "<article><h3>{} · {} <small>{} {}</small></h3><pre>{}</pre></article>", lines)

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
        found = scanning.scan(runs.values_list("pk", flat=True))
        messages.success(request, _("%(n)s flags are new.") % {"n": found})

    def _each(self, request: HttpRequest, runs: QuerySet[Run], deed: Deed) -> None:
        """One run after the other: what is refused for one is said, and does not hold back the others."""
        done = 0
        for run in runs.select_related("experiment__owner"):
            try:
                done += deed(run)
            except (NotAllowed, NotOffered) as error:
                messages.error(request, f"{run.pk}: {error}")
        messages.success(request, _("%(n)s runs were changed.") % {"n": done})


@admin.register(ClientTalk)
class ClientTalkAdmin(Long):
    list_display = ["id", "system", "owner", "run_id", "created"]
    list_filter = ["system"]
    list_select_related = ["owner"]
    search_fields = ["=id", "=run__id", "owner__username"]
    raw_id_fields = ["run"]


def _review(run: Run) -> RunReview:
    return getattr(run, "review", None) or RunReview(run=run)
