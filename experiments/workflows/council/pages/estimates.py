"""What one question to a council may come to: calls, tokens, money and minutes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from experiments.estimates import SECONDS_BEFORE_A_REPLY, TOKENS_A_SECOND, TYPICAL_REPLY, Amounts, Asked, Taken, cost_of
from experiments.models import ProviderModel
from experiments.workflows.council.config import CHAIRS, MEMBERS
from experiments.workflows.council.pages.forms import CouncilForm

RULES = {"review": 450, "conclusion": 500, "repair": 400, "title": 60}  # tokens of what is asked beside the answers
TYPICAL_REVIEW = 300
TYPICAL_CONCLUSION = 450
TITLE = (20, 1000)  # tokens: as a rule, and at most, for some reason before they answer
MOST_TOKENS = 4096  # of an answer whose length is not limited in the form


@dataclass(frozen=True, slots=True)
class Guess:
    """calls: as a rule; most_calls: with every ballot repaired and every chair asked. unpriced: models without a price.
    members: how many are asked.
    """

    members: int
    calls: int
    most_calls: int
    typical: Amounts
    most: Amounts
    unpriced: tuple[str, ...]


def of_form(form: CouncilForm) -> Guess | None:
    """Of whatever the form says now, finished or not; None while there are fewer than two members."""
    rows = form["members"].value() or []
    if len(rows) < 2:
        return None
    seats = _seats(form, rows[: len(MEMBERS)])
    text = len(str(form["question"].value() or "")) + len(str(form["system_prompt"].value() or ""))
    title = bool(form["find_title"].value())
    stages = [_stages(seats, text, at_most=at_most, title=title) for at_most in (False, True)]
    typical, most = (_amounts(seats, stage) for stage in stages)
    calls, most_calls = (sum(len(stage) for stage in played) for played in stages)
    unpriced = tuple(dict.fromkeys(seat.name for seat in seats.values() if seat.price is None))
    return Guess(len(rows), calls, most_calls, typical, most, unpriced)


def _stages(seats: Mapping[str, Taken], text: int, *, at_most: bool, title: bool) -> list[list[Asked]]:
    """The calls of each stage; those of a stage are made side by side."""
    question = text // (3 if at_most else 4) + 20
    members = [seat for seat in seats if seat in MEMBERS]
    long = {seat: one.max_tokens if at_most else min(one.max_tokens, TYPICAL_REPLY) for seat, one in seats.items()}
    answers = [Asked(seat, question, long[seat]) for seat in members]
    if title:
        answers.append(Asked("title" if "title" in seats else "chair", RULES["title"] + question, TITLE[at_most]))
    said = sum(long[seat] for seat in members)
    review = {seat: seats[seat].max_tokens if at_most else TYPICAL_REVIEW for seat in members}
    reviews = [Asked(seat, RULES["review"] + question + said - long[seat], review[seat]) for seat in members]
    repairs = [Asked(seat, RULES["repair"] + review[seat], 60) for seat in members] if at_most else []
    read = RULES["conclusion"] + question + said + sum(review.values())
    chairs = [seat for seat in CHAIRS if seat in seats][: None if at_most else 1]
    conclusions = [[Asked(seat, read, long[seat] if at_most else TYPICAL_CONCLUSION)] for seat in chairs]
    return [stage for stage in (answers, reviews, repairs, *conclusions) if stage]


def _amounts(seats: Mapping[str, Taken], stages: Sequence[Sequence[Asked]]) -> Amounts:
    asked = [one for stage in stages for one in stage]
    seconds = sum(max(one.written for one in stage) / TOKENS_A_SECOND + SECONDS_BEFORE_A_REPLY for stage in stages)
    cost: Decimal | None = cost_of(asked, seats)
    return Amounts(sum(one.read + one.written for one in asked), cost, round(seconds))


def _seats(form: CouncilForm, rows: Sequence[Mapping[str, Any]]) -> dict[str, Taken]:
    """Who would be asked, each with the price of today."""
    chosen = {seat: (str(row["model"]), row.get("max_tokens")) for seat, row in zip(MEMBERS, rows, strict=False)}
    for seat in (*CHAIRS, "title"):
        if slug := form[f"seat-{seat}-model"].value():
            chosen[seat] = (str(slug), form["seat-chair-max_tokens"].value() if seat == "chair" else None)
    models = _models(slug for slug, _tokens in chosen.values())
    return {seat: _taken(slug, models.get(slug), tokens) for seat, (slug, tokens) in chosen.items()}


def _models(slugs: Iterable[str]) -> dict[str, ProviderModel]:
    return {model.slug: model for model in ProviderModel.objects.available().filter(slug__in=set(slugs))}


def _taken(slug: str, model: ProviderModel | None, tokens: Any) -> Taken:
    price = model.price_at(timezone.now()) if model else None
    return Taken(model.label if model else slug, price.value if price else None, _whole(tokens))


def _whole(value: Any) -> int:
    try:
        return max(1, min(1_000_000, int(str(value))))
    except ValueError:
        return MOST_TOKENS
