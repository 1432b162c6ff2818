"""What a debate may come to before it is started. Answers are asked for one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from experiments.estimates import SECONDS_BEFORE_A_REPLY, TOKENS_A_SECOND, Amounts, Asked, Taken, cost_of
from experiments.forms import SetupForm
from experiments.labels import seat_name
from experiments.models import ProviderModel
from experiments.workflows.debate.config import DEBATERS

ROLES = {"refiner": "refiner", "A": "debater", "B": "debater", "C": "debater", "summarizer": "summarizer"}
TYPICAL = {"refiner": 350, "debater": 450, "summarizer": 450}  # tokens of an answer
RULES = 500  # tokens of what a seat is told beside the task and the points
SHARE_OF_POINTS = 0.8  # of an answer's tokens: what is left for the others of its form


@dataclass(frozen=True, slots=True)
class Plan:
    """rounds: those that are certain, and at most. request and addendum: characters. seats: those that are asked."""

    refine: bool
    rounds: tuple[int, int]
    request: int
    addendum: int
    seats: Mapping[str, Taken]


@dataclass(frozen=True, slots=True)
class DebateEstimate:
    """calls: without a second round that is not certain, and without repairs; most_calls: with all of them."""

    calls: int
    most_calls: int
    typical: Amounts
    most: Amounts
    unpriced: tuple[str, ...]


def token_limit(role: str) -> int:
    """The most tokens that an answer of this role may have, as the server has set it."""
    return min(settings.ROLE_TOKENS[role], settings.ROLE_TOKENS_CAP)


def estimate(plan: Plan) -> DebateEstimate:
    typical, most = list(_played(plan, at_most=False)), list(_played(plan, at_most=True))
    return DebateEstimate(
        calls=len(typical),
        most_calls=len(most),
        typical=_amounts(plan, typical),
        most=_amounts(plan, most),
        unpriced=tuple(dict.fromkeys(seat.name for seat in plan.seats.values() if seat.price is None)),
    )


def _amounts(plan: Plan, asked: list[Asked]) -> Amounts:
    written = sum(one.written for one in asked)
    seconds = round(written / TOKENS_A_SECOND + len(asked) * SECONDS_BEFORE_A_REPLY)
    return Amounts(sum(one.read + one.written for one in asked), cost_of(asked, plan.seats), seconds)


def _played(plan: Plan, *, at_most: bool) -> Iterator[Asked]:
    """Every call; at most: each answer as long as it may be, and each put right by a repair."""
    task = plan.request // (3 if at_most else 4)
    if plan.refine:
        yield from _asked("refiner", RULES + task, at_most=at_most)
        task += _length("refiner", at_most=at_most)
    points = 0
    for number in range(1, plan.rounds[at_most] + 1):
        addendum = plan.addendum // 3 if number > 1 else 0
        for seat in DEBATERS:
            yield from _asked(seat, RULES + task + addendum + points, at_most=at_most)
            points += round(SHARE_OF_POINTS * _length(seat, at_most=at_most))
    yield from _asked("summarizer", RULES + task + points, at_most=at_most)


def _asked(seat: str, read: int, *, at_most: bool) -> Iterator[Asked]:
    length = _length(seat, at_most=at_most)
    yield Asked(seat, read, length)
    if at_most:
        yield Asked(seat, RULES + length, length)


def _length(seat: str, *, at_most: bool) -> int:
    role = ROLES[seat]
    longest = token_limit(role)
    return longest if at_most else min(longest, TYPICAL[role])


def of_form(form: SetupForm) -> DebateEstimate:
    """Of whatever the form says now, finished or not."""

    def said(name: str) -> Any:
        return form[name].value()

    refine, is_automatic = bool(said("refine")), said("mode") == "automatic"
    asked = [seat for seat in ROLES if refine or seat != "refiner"]
    rounds = 2 if str(said("rounds")) == "2" else 1
    plan = Plan(
        refine=refine,
        rounds=(rounds, rounds) if is_automatic else (1, 2),
        request=len(str(said("prompt") or "")),
        addendum=len(str(said("addendum") or "")) if is_automatic else 0,
        seats=_taken({seat: str(said(f"seat-{seat}-model") or "") for seat in asked}),
    )
    return estimate(plan)


def _taken(slugs: Mapping[str, str]) -> dict[str, Taken]:
    """The seats that will be asked, each with its price today."""
    models = {model.slug: model for model in ProviderModel.objects.available().filter(slug__in=slugs.values())}
    seats = {}
    for seat, slug in slugs.items():
        model = models.get(slug)
        price = model.price_at(timezone.now()) if model else None
        seats[seat] = Taken(model.label if model else str(seat_name(seat)), price.value if price else None)
    return seats
