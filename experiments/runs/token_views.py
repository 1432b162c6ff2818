"""The tokens of an answer with their probabilities, as a page and as a part of its run's."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.models import Call, Message, Run
from experiments.runs import tokens
from experiments.runs.tokens import Confidence, TokenView

STRIP_WIDTH, STRIP_HEIGHT = 640.0, 28.0


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


def read_tokens(message: Message) -> Reading:
    """The token view of an answer, or why there is none."""
    call = message.call
    if call is None or not (message.run.config.get("logprobs") or call.request.get("logprobs")):
        return Reading(None, "", is_asked=False)
    if not call.logprobs:
        return Reading(None, _why_not(call), is_asked=True)
    view = tokens.token_view(call.logprobs, message.raw_text)
    return Reading(view, "", is_asked=True, strip=_strip(view))


@lru_cache(maxsize=4096)
def confidence_of(call_id: UUID) -> Confidence | None:
    """Of a settled call, which never changes any more; messages have no other."""
    return tokens.summary(Call.objects.values_list("logprobs", flat=True).get(pk=call_id))


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
    low = STRIP_HEIGHT * (1 - tokens.LOW)
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


@for_readers
@require_GET
def message_tokens(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The tokens of an answer with their probabilities, as a page; for a script (`?part=1`) the view alone."""
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment", "call__model"), pk=pk)
    context = {"message": message, "run": message.run, "reading": read_tokens(message)}
    page = "experiments/_tokens.html" if request.GET.get("part") else "experiments/tokens.html"
    return render(request, page, context)
