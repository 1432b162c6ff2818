"""Curators publish and withdraw ladders, and leave out battles and contestants; every reason is shown on the pages."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from accounts.errors import Refusal
from accounts.people import person
from experiments.admin.base import BoundedPaginator, Long, ReadOnly
from experiments.library.datasets import contestants
from experiments.models import Battle, Contestant, Cycle
from experiments.workflows.battles.campaign import voiding
from experiments.workflows.coding.pages import voiding as cycle_voiding
from leaderboard.models import ArenaBattle, Ladder, Milestone, PublicArena, RatingPoint, Standing, Style


class ReasonForm(ActionForm):
    """The reason beside the choice of what to do."""

    reason = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=voiding.LONGEST_REASON)


class Changeable(ReadOnly):
    """Of which some fields can be changed."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_change_permission(self, request, obj)


class LeavesOut(ReadOnly):
    """Rows that can be left out of the ratings with a reason, by the verbs `void` and `restore` of a module."""

    verbs: Any
    changed: Any  # the sentence with the number of rows that were changed
    action_form = ReasonForm
    actions = ["void_chosen", "restore_chosen"]

    @admin.action(description=gettext_lazy("Leave out of the ratings, with the reason"))
    def void_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        by, reason = person(request), request.POST.get("reason", "")
        self.change(request, rows, lambda row: self.verbs.void(row, by=by, reason=reason))

    @admin.action(description=gettext_lazy("Count again"))
    def restore_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        by = person(request)
        self.change(request, rows, lambda row: self.verbs.restore(row, by=by))

    def change(self, request: HttpRequest, rows: QuerySet[Any], verb: Callable[[Any], bool]) -> None:
        try:
            done = self.done(rows, verb)
        except Refusal as error:
            messages.error(request, str(error))
        else:
            messages.success(request, self.changed % {"n": done})

    def done(self, rows: QuerySet[Any], verb: Callable[[Any], bool]) -> int:
        return sum(map(verb, rows))


@admin.register(Style)
class StyleAdmin(ReadOnly):
    """What the texts of outputs look like, for the ratings that are adjusted for style."""

    list_display = ["output_id", "length", "headings", "lists", "bold", "code", "language"]
    ordering = ["-output_id"]
    raw_id_fields = ["output"]


@admin.register(Ladder)
class LadderAdmin(Changeable):
    """is_public acts on ladders of runs; a board's ladder is as public as its dataset."""

    list_display = ["title", "workflow", "is_public", "withdrawn_reason", "created"]
    list_filter = ["workflow", "is_public"]
    search_fields = ["title", "slug"]
    fields = ["title", "slug", "workflow", "board", "is_public", "withdrawn_reason", "created"]
    readonly_fields = ["title", "slug", "workflow", "board", "created"]

    def save_model(self, request: HttpRequest, obj: Ladder, form: Any, change: bool) -> None:
        obj.save(update_fields=["is_public", "withdrawn_reason"])


@admin.register(Milestone)
class MilestoneAdmin(ReadOnly):
    list_display = ["name", "ladder", "battles", "by", "taken"]
    list_select_related = ["ladder", "by"]
    search_fields = ["name", "ladder__title"]
    fields = ["ladder", "name", "taken", "by", "battles", "note", "contestants", "ratings"]


@admin.register(PublicArena)
class PublicArenaAdmin(ReadOnly):
    """Set up at Lab, Public arena."""

    list_display = ["__str__", "is_open", "is_moderated", "battles_per_hour", "longest_prompt"]


@admin.register(ArenaBattle)
class ArenaBattleAdmin(Long):
    """Every prompt of the public arena, published or not."""

    list_display = ["id", "sample_text", "left", "right", "choice", "may_publish", "publication", "created"]
    list_filter = ["may_publish", "publication"]
    list_select_related = ["sample", "left", "right"]

    @admin.display(description=gettext_lazy("prompt"))
    def sample_text(self, row: ArenaBattle) -> str:
        return row.sample.instruction[:200]


@admin.register(Standing)
class StandingAdmin(ReadOnly):
    """What is kept of each ladder's last computation; `manage.py rerate` makes it anew."""

    list_display = ["ladder", "changes", "computed", "seconds"]
    list_select_related = ["ladder"]
    search_fields = ["ladder__title"]


@admin.register(RatingPoint)
class RatingPointAdmin(Long):
    list_display = ["ladder", "at", "occasion", "name", "rating", "lower", "upper", "battles"]
    list_filter = ["ladder"]
    list_select_related = ["ladder"]
    search_fields = ["=name"]


@admin.register(Contestant)
class ContestantAdmin(Changeable):
    """Only how a contestant is shown can be changed, and whether it counts."""

    list_display = ["name", "label", "dataset", "version", "void_reason", "created"]
    list_filter = ["created"]
    search_fields = ["name", "label", "dataset__name"]
    list_select_related = ["dataset"]
    readonly_fields = ["dataset", "name", "model", "version", *contestants.REGISTERED]
    fields = ["dataset", "name", "label", "link", "void_reason", "model", "version", *contestants.REGISTERED]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "link":
            kwargs["assume_scheme"] = "https"
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Contestant, form: Any, change: bool) -> None:
        """By the verbs, so that every ladder follows; users who may not get a message."""
        by, reason = person(request), obj.void_reason
        try:
            if {"label", "link"} & set(form.changed_data):
                contestants.describe(obj, by=by, label=obj.label, link=obj.link)
            if "void_reason" in form.changed_data:
                contestants.void(obj, by=by, reason=reason) if reason else contestants.restore(obj, by=by)
        except Refusal as error:
            messages.error(request, str(error))


@admin.register(Battle)
class BattleAdmin(LeavesOut):
    """A list that stays fast over a million rows: nothing is counted or searched that no index answers."""

    list_display = ["id", "board", "sample", "left", "right", "winner", "is_consistent", "void_reason", "judged"]
    list_select_related = ["board", "sample", "left", "right"]
    list_filter = ["board"]
    ordering = ["-id"]
    paginator = BoundedPaginator
    show_full_result_count = False
    verbs, changed = voiding, gettext_lazy("%(n)s battles were changed.")
    fields = [
        *("board", "sample", "left", "right", "winner", "is_consistent", "judged", "open_reason"),
        *("experiment", "run", "voter", "void_reason", "voided", "voided_by"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Battle]:
        """Without open offers: whose outputs a voter is comparing is not shown anywhere before the vote."""
        return Battle.objects.revealed().order_by(*self.get_ordering(request))

    def done(self, rows: QuerySet[Any], verb: Callable[[Any], bool]) -> int:
        return super().done(rows.select_related("board__dataset"), verb)


@admin.register(Cycle)
class CycleAdmin(LeavesOut):
    """Which cycles of coding count; the page of the ladder's cycles does the same, and shows what was done before."""

    list_display = ["turn", "title", "setter", "state", "run", "void_reason", "voided", "voided_by", "ended"]
    list_select_related = ["run__experiment", "voided_by"]
    list_filter = ["state", ("voided", admin.EmptyFieldListFilter)]
    search_fields = ["title", "run__id"]
    ordering = ["-ended", "-id"]
    verbs, changed = cycle_voiding, gettext_lazy("%(n)s cycles were changed.")
    fields = [
        *("run", "turn", "title", "setter", "state", "reason", "contestants", "found"),
        *("void_reason", "voided", "voided_by", "began", "ended"),
    ]

    def done(self, rows: QuerySet[Any], verb: Callable[[Any], bool]) -> int:
        with transaction.atomic():
            return super().done(rows, verb)
