"""StarChamber's pages beside its run's, and what they show: the figures of a talk, and the tokens of an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from experiments.models import Call, Message, Participant, Run
from experiments.runs.timeline import Entry
from experiments.workflows.judging import WORKFLOW as JUDGING
from experiments.workflows.starchamber import DEFAULT_PARAMS
from experiments.workflows.starchamber.pages import tokens
from experiments.workflows.starchamber.pages.tokens import Confidence, TokenView

STRIP_WIDTH, STRIP_HEIGHT = 640.0, 28.0


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


@dataclass(frozen=True, slots=True)
class Reading:
    """The tokens of an answer; view None with the reason in words, or with none when they were not asked for."""

    view: TokenView | None
    why_not: str
    is_asked: bool
    strip: "Strip | None" = None


@dataclass(frozen=True, slots=True)
class Strip:
    """Probabilities as a line, broken where none is known. low: the height of the lower threshold."""

    width: float
    height: float
    lines: tuple[str, ...]
    low: float


def figures_of(run: Run) -> Figures:
    """The figures of a talk, in three queries and one per answer that was never read before."""
    rows = run.messages.order_by("seq").values_list("pk", "seat", "superseded", "call_id")
    answers = [(str(pk), superseded, call) for pk, seat, superseded, call in rows if seat == "model"]
    written = run.messages.aggregate(written=Sum("call__output_tokens"))["written"]
    of_message = {pk: found for pk, _superseded, call in answers if call and (found := _confidence(call))}
    standing = [of_message[pk] for pk, superseded, _call in answers if not superseded and pk in of_message]
    return Figures(
        questions=sum(1 for _pk, seat, _superseded, _call in rows if seat == "researcher"),
        answers=sum(1 for _pk, superseded, _call in answers if not superseded),
        replaced=sum(1 for _pk, superseded, _call in answers if superseded),
        tokens_out=written,
        confidence=tokens.together(standing),
        of_message=of_message,
    )


def read_tokens(message: Message) -> Reading:
    """The token view of an answer, or why there is none."""
    call = message.call
    if call is None or not _is_asked(call, message.run.config):
        return Reading(None, "", is_asked=False)
    if not call.logprobs:
        return Reading(None, _why_not(call), is_asked=True)
    view = tokens.token_view(call.logprobs, message.raw_text)
    return Reading(view, "", is_asked=True, strip=_strip(view))


@lru_cache(maxsize=4096)
def _confidence(call_id: UUID) -> Confidence | None:
    """Of a settled call, which never changes any more; messages have no other."""
    return tokens.summary(Call.objects.values_list("logprobs", flat=True).get(pk=call_id))


def _is_asked(call: Call, config: dict[str, Any]) -> bool:
    return bool(config.get("logprobs")) or bool(call.request.get("logprobs"))


def _why_not(call: Call) -> str:
    if not call.request.get("logprobs"):
        return _("%(model)s does not provide them according to the catalog, so they were not requested.") % {
            "model": call.model.label
        }
    if call.finish_reason == "stopped":
        return _("The answer was stopped before any arrived.")
    return _("They were requested, but the provider sent none.")


def _strip(view: TokenView) -> Strip | None:
    values = tokens.strip([token.probability for token in view.tokens])
    if len(values) < 2:
        return None
    step = STRIP_WIDTH / (len(values) - 1)
    places = [None if p is None else f"{n * step:.1f},{STRIP_HEIGHT * (1 - p):.1f}" for n, p in enumerate(values)]
    low = STRIP_HEIGHT * (1 - tokens.Thresholds().low)
    return Strip(STRIP_WIDTH, STRIP_HEIGHT, tuple(_stretches(places)), low)


def _stretches(places: Iterable[str | None]) -> Iterable[str]:
    """The places between gaps, as SVG writes them."""
    stretch: list[str] = []
    for place in [*places, None]:
        if place is not None:
            stretch.append(place)
        elif stretch:
            yield " ".join(stretch if len(stretch) > 1 else stretch * 2)
            stretch = []


def page_context(reader: User | AnonymousUser, run: Run, entries: Sequence[Entry]) -> dict[str, Any]:
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


@for_readers
@require_GET
def message_tokens(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The tokens of an answer with their probabilities, as a page; for a script (`?part=1`) the view alone."""
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment", "call__model"), pk=pk)
    context = {"message": message, "run": message.run, "reading": read_tokens(message)}
    page = "workflows/starchamber/_tokens.html" if request.GET.get("part") else "workflows/starchamber/tokens.html"
    return render(request, page, context)


urlpatterns = [
    path("runs/<uuid:pk>/figures/", figures, name="talk-figures"),
    path("messages/<uuid:pk>/tokens/", message_tokens, name="message-tokens"),
]
