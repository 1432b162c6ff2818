"""What the report of an arena run says of how it was set up."""

from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Run
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Table
from experiments.runs.reports.setup import Rows, changes, judging_facts, limits, of_side, prompt, script, turns
from experiments.templatetags.arena import figure


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Prompting"), _("one prompt each") if config.get("prompting") == "individual" else _("shared")),
        Fact(_("Mode"), str(Run.Mode(rows.run.mode).label)),
        Fact(_("Max turns"), turns(rows)),
        Fact(_("Begins"), _beginner(rows)),
        Fact(_("Content filter"), words.yes_or_no(config.get("filter"))),
        Fact(_("Judge"), _judge_setting(config)),
        *judging_facts(rows),
        Fact(_("Think-aloud request"), words.yes_or_no(config.get("elicit_thinking"))),
        Fact(_("Token probabilities asked for"), words.yes_or_no(config.get("logprobs"))),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Pause between turns, seconds"), figure(config.get("gap_seconds"))),
        Fact(_("Seed"), str(rows.run.seed)),
        *changes(rows),
    )
    return [Facts(facts), *_arena_prompts(config), *script(rows), *_planned(config)]


def _arena_prompts(config: dict[str, Any]) -> list[Block]:
    own = str(config.get("system_prompt") or "")
    opening = [prompt("system-prompt", _("System prompt"), own)] if own.strip() else []
    if config.get("prompting") == "individual":
        prompts = config.get("prompts") or {}
        return [*opening, *(prompt(f"prompt-{s}", of_side(s), str(prompts.get(s, "")), s) for s in ("A", "B"))]
    return [*opening, prompt("prompt", _("Prompt for both"), str(config.get("prompt", "")))]


def _planned(config: dict[str, Any]) -> list[Block]:
    planned = config.get("interventions") or []
    if not planned:
        return []
    columns = (
        Column(_("Turn"), is_figure=True, share=0.5),
        Column(_("Side"), share=0.8),
        Column(_("What"), share=1.2),
        Column(_("Text"), share=5.0),
    )
    kinds = {"friend": _("phone a friend"), "note": _("private note"), "alter": _("altered message")}
    table = tuple(
        (str(one["turn"]), words.seat_name(one["side"]), kinds.get(one["kind"], one["kind"]), one["text"])
        for one in planned
    )
    return [Table(_("Interventions planned"), columns, table)]


def _beginner(rows: Rows) -> str:
    swapped = (rows.config.get("first") == "B") != (bool(rows.config.get("counterbalance")) and rows.run.seed % 2 == 1)
    name = words.seat_name("B" if swapped else "A")
    return _("%(seat)s (alternates with the seed)") % {"seat": name} if rows.config.get("counterbalance") else name


def _judge_setting(config: dict[str, Any]) -> str:
    if not config.get("judge") or config.get("instrument"):
        return words.yes_or_no(config.get("judge"))
    sees = {
        "filtered": _("sees the filtered messages"),
        "original": _("sees the messages as produced"),
        "both": _("sees the messages as produced and as filtered"),
    }
    deeds = _("and interventions") if config.get("judge_sees_interventions", True) else _("but no interventions")
    return f"{sees.get(config.get('judge_sees', 'filtered'), '')} {deeds}"
