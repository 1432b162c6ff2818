"""How the run was set up: from its experiment's configuration, never from a form."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Call, Participant
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Fact, Facts, Part, Section, Table, Text
from experiments.runs.reports.rows import Rows, sent_parameters
from experiments.setup.facts import facts
from experiments.templatetags.arena import MISSING, exact_money, figure, grouped, limits_shown
from experiments.workflows import surface_of


def setup(rows: Rows) -> Section:
    surface = surface_of(rows.workflow)
    settings = surface.told.settings or (declared_settings if surface.setup else None)
    return Section("setup", _("Set-up"), (*_seats(rows), *(settings(rows) if settings else ())))


def declared_settings(rows: Rows) -> list[Block]:
    """What the set-up page declares, with its labels; texts of some length stand by themselves."""
    found = list(facts(rows.workflow, rows.config))
    short = [Fact(one.label, one.text) for one in found if not one.is_long]
    ends = [Fact(_("Seed"), str(rows.run.seed)), *changes(rows)]
    return [Facts((*short, *ends)), *(prompt(one.name, one.label, one.text) for one in found if one.is_long)]


def _seats(rows: Rows) -> list[Block]:
    columns = (
        Column(_("Seat"), share=1.0),
        Column(_("Model"), share=2.0),
        Column(_("Served as"), share=2.0),
        Column(_("Persona"), share=1.2),
        Column(_("Parameters sent"), share=2.4),
    )
    seats = tuple(_seat(rows, participant) for participant in rows.participants)
    return [Table(_("Who took part"), columns, seats)] if seats else []


def _seat(rows: Rows, participant: Participant) -> tuple[str, ...]:
    model = participant.model
    simulated = f" ({_('simulated')})" if model.provider.is_simulated else ""
    served = {_served(call) for call in rows.calls if call.served_model and _is_by(rows, participant, call)}
    sent = sent_parameters(rows.run, participant.seat)
    return (
        words.seat_name(participant.seat),
        f"{model.label} · {model.provider.name}{simulated}",
        ", ".join(sorted(served)) or MISSING,
        participant.persona or MISSING,
        parameters(sent or participant.params) or MISSING,
    )


def _is_by(rows: Rows, participant: Participant, call: Call) -> bool:
    """Whether the participant answered: for its own seat, or for one whose model could not."""
    if call.model_id != participant.model_id:
        return False
    own = {one.seat: one.model_id for one in rows.participants}
    return call.step.seat == participant.seat or own.get(call.step.seat) != call.model_id


def _served(call: Any) -> str:
    return f"{call.served_model} ({call.served_provider})" if call.served_provider else str(call.served_model)


def parameters(params: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in sorted(params.items()))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({parameters(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def of_side(side: str) -> str:
    return _("Prompt for %(seat)s") % {"seat": words.seat_name(side)}


def prompt(anchor: str, title: str, text: str, seat: str = "") -> Part:
    badge = words.badge(seat) if seat else ""
    return Part(anchor, seat, badge, title, (Text(text or _("(none)"), "plain"),))


def turns(rows: Rows) -> str:
    return grouped(rows.config["max_turns"]) if rows.config.get("max_turns") else _("unlimited")


def judging_facts(rows: Rows) -> list[Fact]:
    """How the judge works, where there is one. Of runs from before these settings, they are off."""
    config = rows.config
    if not config.get("judge", True):
        return []
    seconds = config.get("judge_seconds")
    limit = _("none") if seconds is None else _("%(n)s seconds, two attempts") % {"n": figure(seconds, 0)}
    return [
        Fact(_("The judge reads the models' reasoning"), words.yes_or_no(config.get("judge_sees_reasoning"))),
        Fact(_("Time limit of the judge"), limit),
    ]


def limits(rows: Rows) -> str:
    return limits_shown(rows.config.get("limits"), exact_money)


def changes(rows: Rows) -> list[Fact]:
    """Settings that somebody changed while the run was played."""
    overrides = rows.run.overrides
    if not overrides:
        return []
    before = {name: rows.run.experiment.config.get(name) for name in overrides}
    changed = ", ".join(
        f"{name}: {_shown(name, before[name])} → {_shown(name, value)}" for name, value in sorted(overrides.items())
    )
    return [Fact(_("Changed while it was played"), changed)]


def _shown(name: str, value: Any) -> str:
    if name == "limits":
        return limits_shown(value, exact_money)
    return _("unlimited") if value is None else str(value)
