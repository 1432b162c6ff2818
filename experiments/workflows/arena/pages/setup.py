"""Setting up an arena experiment: its form, what fills the form at first, and what the run may come to."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.actions import MOST_REPEATS
from experiments.catalog.menu import askable_models, usual_cast
from experiments.estimates import Estimate, Plan, Taken, estimate
from experiments.forms import SEAT_PARAMS, SetupForm, form_for
from experiments.library.shelf import find_scenario, initial_for, initial_of
from experiments.models import Participant, ProviderModel
from experiments.shelves.cloning import source
from experiments.workflows.arena import DEFAULT_PARAMS

Values = dict[str, Any]
DEFAULT_SEATS = {"judge": "is_default_judge", "filter": "is_default_filter"}


class Repeated(SetupForm):
    """A set-up form that also says how many runs are to be started."""

    repeats = forms.IntegerField(
        label=gettext_lazy("Runs"), min_value=1, max_value=MOST_REPEATS, initial=1, required=False
    )

    @property
    def runs(self) -> int:
        return int(self.cleaned_data.get("repeats") or 1)


@cache
def arena_form() -> type[Repeated]:
    return type("ArenaSetup", (Repeated, form_for("arena")), {})


def initial(request: HttpRequest) -> Values:
    """What the form shows at first: the models used last, or two different ones; or a scenario (`?scenario=`), or what
    a run or an experiment was set up with that one may see (`?clone=`).
    """
    cast = usual_cast(request.user, "arena", ("A", "B"))
    values: Values = {f"seat-{seat}-model": slug for seat, slug in cast.items()}
    if ref := request.GET.get("scenario"):
        scenario = find_scenario(request.user, ref)
        if scenario is None:
            raise Http404
        return {**values, **initial_for(scenario), "title": scenario.title}
    if wanted := request.GET.get("clone"):
        found = source(request.user, wanted, "arena")
        for lost in _not_carried_over(found.participants):
            messages.warning(request, lost)
        return {**values, **initial_of(found.config), **_seats(found.participants), "title": found.title}
    return values


def estimate_of(form: SetupForm) -> Estimate:
    """Of whatever the form says now, finished or not."""
    return estimate(_plan(form))


def _seats(participants: Sequence[Participant]) -> Values:
    values: Values = {}
    for one in participants:
        prefix = f"seat-{one.seat}"
        values |= {f"{prefix}-model": one.model.slug, f"{prefix}-persona": one.persona}
        values |= {f"{prefix}-{name}": value for name, value in one.params.items()}
    return values


def _not_carried_over(participants: Sequence[Participant]) -> Iterator[str]:
    """What the form cannot show of a run's cast: it would be lost without a word."""
    askable = {model.slug for model in askable_models()}
    for one in participants:
        if one.model.slug not in askable:
            words = _("%(model)s is not available now: choose another model for seat %(seat)s.")
            yield words % {"model": one.model.label, "seat": one.seat}
        if others := sorted(set(one.params) - set(SEAT_PARAMS)):
            words = _("Not carried over for seat %(seat)s: %(names)s.")
            yield words % {"seat": one.seat, "names": ", ".join(others)}


def _plan(form: SetupForm) -> Plan:
    def said(name: str) -> Any:
        return form[name].value()

    prompts = ("prompts-A", "prompts-B") if said("prompting") == "individual" else ("prompt",)
    planned = [row for row in said("interventions") or [] if row.get("kind") == "friend"]
    return Plan(
        turns=None if said("max_turns-none") else _whole(said("max_turns"), 0, most=100),
        runs=_whole(said("repeats"), 1, most=MOST_REPEATS),
        instructions=max(len(str(said(name) or "")) for name in prompts) + len(str(said("system_prompt") or "")),
        gap_seconds=_number(said("gap_seconds")),
        seats=_taken(said),
        friends=len(planned),
        judge_sees_reasoning=bool(said("judge_sees_reasoning")),
    )


def _taken(said: Any) -> Mapping[str, Taken]:
    """The seats that will be asked, each with its price today."""
    slugs = {seat: str(said(f"seat-{seat}-model") or "") for seat in ("A", "B", "judge", "filter", "friend")}
    wanted = {"judge": bool(said("judge")), "filter": bool(said("filter")), "friend": bool(slugs["friend"])}
    models = {model.slug: model for model in ProviderModel.objects.available().filter(slug__in=slugs.values())}
    seats = {}
    for seat, slug in slugs.items():
        if not wanted.get(seat, True):
            continue
        model = models.get(slug) if slug else _default_model(seat)
        price = model.price_at(timezone.now()) if model else None
        most = _whole(said(f"seat-{seat}-max_tokens"), DEFAULT_PARAMS["max_tokens"]) if seat in ("A", "B") else 0
        reasons = bool(model and model.accepts.reasoning_effort)
        seats[seat] = Taken(model.label if model else seat, price.value if price else None, int(most), reasons)
    return seats


def _default_model(seat: str) -> ProviderModel | None:
    flag = DEFAULT_SEATS.get(seat)
    return ProviderModel.objects.available().filter(**{flag: True}).first() if flag else None


def _whole(value: Any, default: float, *, most: int = 1_000_000) -> int:
    try:
        return max(0, min(most, int(str(value))))
    except ValueError:
        return int(default)


def _number(value: Any) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if 0 <= number <= 60 else 0.0
