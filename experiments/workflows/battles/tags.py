"""Words and pieces of the pages of battles and outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from experiments.models import Battle, Campaign
from experiments.models.labels import END_REASONS, prompt_words
from experiments.runs import figures
from experiments.workflows.battles.campaign.progress import Progress
from experiments.workflows.battles.judged import Shown
from experiments.workflows.battles.prompts import PROMPTS, Known

register = template.Library()
register.filter(figures.elo)
register.filter(figures.in_percent)
register.filter(figures.bounds)
register.filter(figures.rank_range)
register.filter(figures.rating_or_bound)

FENCE = "…"  # where a battle has the random fence of its own


@dataclass(frozen=True, slots=True)
class PromptChoice:
    """A judge prompt as it is offered. text: all that a judge is told beside what it compares."""

    name: str
    title: str
    version: str
    description: str
    text: str


@register.filter
def is_ticked(value: str, bound: BoundField) -> bool:
    return value in {str(one) for one in bound.value() or ()}


@register.filter
def whole(value: Any) -> int:
    return round(value or 0)


@register.filter
def percent(share: float | None) -> int | None:
    """How much is done in whole per cent: never 100 before everything is."""
    return None if share is None else int(100 * share)


@register.filter
def tokens_used(progress: Progress) -> int:
    return progress.input_tokens + progress.output_tokens


@register.filter
def campaign_state(state: str) -> Any:
    return Campaign.State(state).label if state in Campaign.State.values else state


@register.filter
def run_state(state: str) -> str:
    """The state of a run that looks like this one."""
    return "waiting" if state == Campaign.State.OPEN else state or "queued"


@register.filter
def campaign_note(note: str) -> Any:
    """Why a campaign ended, in words: ends of runs have theirs."""
    return END_REASONS.get(note) or NOTES.get(note, note)


@register.filter
def plan_line(sampling: Mapping[str, Any]) -> Any:
    """How much is compared, in a few words."""
    plan = sampling.get("plan", "all")
    return PLAN_LINES[plan] % {"per_pair": sampling.get("per_pair"), "width": sampling.get("target_width")}


@register.filter
def battle_result(battle: Battle) -> str:
    """Who won, by name."""
    if battle.winner in (Battle.Winner.LEFT, Battle.Winner.RIGHT):
        won = battle.left if battle.winner == Battle.Winner.LEFT else battle.right
        return gettext("%(name)s wins") % {"name": won}
    return str(battle.get_winner_display()) if battle.winner else gettext("open")


@register.simple_tag
def prompts_of(form: BaseForm) -> Sequence[PromptChoice]:
    offered: Any = form.fields["prompt"]
    return [_prompt(name, PROMPTS[name]) for name, _title in offered.choices]


def _prompt(name: str, prompt: Known) -> PromptChoice:
    described = " ".join((prompt.module.__doc__ or "").split())
    parts = prompt.parts(Shown(sample=1, first=2, second=3, token=FENCE))
    text = "".join(part if isinstance(part, str) else f"[{part.what}]" for part in parts)
    return PromptChoice(name, prompt_words(prompt.title), prompt.version, prompt_words(described), text)


NOTES = {
    "Some could not be decided: resume to ask again.": _("Some could not be decided."),
    "Nothing was missing.": _("Nothing was missing: everything had been decided before."),
}
PLAN_LINES = {
    "all": _("each pair on each sample"),
    "sample": _("%(per_pair)s samples for each pair"),
    "adaptive": _("until intervals are %(width)s Elo wide"),
}
