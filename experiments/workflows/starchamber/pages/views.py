"""What StarChamber's pages show beside a run: the figures of a talk, also by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import User
from accounts.people import for_readers
from experiments.library.builtin import CUSTOM
from experiments.library.presets import find_preset
from experiments.models import Participant, Run
from experiments.runs import tokens
from experiments.runs.timeline import Entry
from experiments.runs.token_views import confidence_of
from experiments.runs.tokens import Confidence
from experiments.workflows.judging import WORKFLOW as JUDGING
from experiments.workflows.starchamber import DEFAULT_PARAMS


@dataclass(frozen=True, slots=True)
class Figures:
    """tokens_out: of the answers, those included that a branch shares with its parent; None when no provider said.

    of_message: by the message's id.
    """

    questions: int
    answers: int
    replaced: int
    tokens_out: int | None
    confidence: Confidence
    of_message: dict[str, Confidence]


def figures_of(run: Run) -> Figures:
    """The figures of a talk, in three queries and one per answer that was never read before."""
    rows = run.messages.order_by("seq").values_list("pk", "seat", "superseded", "call_id")
    answers = [(str(pk), superseded, call) for pk, seat, superseded, call in rows if seat == "model"]
    written = run.messages.aggregate(written=Sum("call__output_tokens"))["written"]
    of_message = {pk: found for pk, _superseded, call in answers if call and (found := confidence_of(call))}
    standing = [of_message[pk] for pk, superseded, _call in answers if not superseded and pk in of_message]
    return Figures(
        questions=sum(1 for _pk, seat, _superseded, _call in rows if seat == "researcher"),
        answers=sum(1 for _pk, superseded, _call in answers if not superseded),
        replaced=sum(1 for _pk, superseded, _call in answers if superseded),
        tokens_out=written,
        confidence=tokens.together(standing),
        of_message=of_message,
    )


def page_context(reader: User | AnonymousUser, run: Run, entries: Sequence[Entry]) -> dict[str, object]:
    """defaults: what the model is asked with when nothing is set."""
    return {
        "figures": figures_of(run),
        "preset": _preset(run, reader),
        "judgings": _judgings(run, reader),
        "defaults": DEFAULT_PARAMS,
    }


def _preset(run: Run, reader: User | AnonymousUser) -> str:
    """How the system context is called in the library; "" for one that is not there any more."""
    id_ = str(run.config.get("preset") or "")
    if id_ == CUSTOM:
        return _("Custom")
    found = find_preset(reader, id_) if id_ else None
    return str(found.label) if found else ""


def _judgings(run: Run, reader: User | AnonymousUser) -> QuerySet[Any]:
    """The runs in which the transcript was judged again and that the reader may see, the latest first, each with its
    judge's `judge_label`.
    """
    judge = Participant.objects.filter(experiment=OuterRef("experiment"), seat="judge").values("model__label")[:1]
    judgings = Run.objects.visible_to(reader).filter(parent=run, experiment__workflow=JUDGING.slug)
    return judgings.annotate(judge_label=Subquery(judge))


@for_readers
@require_GET
def figures(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The figures of a talk alone, fetched again whenever something was said."""
    runs = Run.objects.visible_to(request.user).filter(experiment__workflow="starchamber")
    run = get_object_or_404(runs.select_related("experiment"), pk=pk)
    return render(request, "workflows/starchamber/_figures.html", {"run": run, "figures": figures_of(run)})


urlpatterns = [
    path("runs/<uuid:pk>/figures/", figures, name="talk-figures"),
]
