"""What a report starts from: the rows of the run, and its section on how the run was set up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from experiments.models import Ballot, Call, Judgment, Participant, Run, Step
from experiments.models.labels import SCRIPT_CONDITIONS
from experiments.runs.reports import words
from experiments.runs.reports.document import CHOICES
from experiments.runs.reports.report import Block, Column, Fact, Facts, Part, Section, Table, Text
from experiments.setup.layout import facts
from experiments.templatetags.arena import MISSING, exact_money, figure, grouped, limits_shown
from experiments.workflows import surface_of
from experiments.workflows.council.rows import ballots

NOT_PARAMETERS = frozenset({"messages", "model", "stream", "stream_options", "response_format", "usage"})


@dataclass(frozen=True, slots=True)
class Rows:
    """`run` with its totals; its steps in order with their calls, without pauses at which nobody changed anything."""

    run: Any
    config: dict[str, Any]
    participants: tuple[Participant, ...]
    steps: tuple[Step, ...]
    calls: tuple[Call, ...]
    judgments: tuple[Judgment, ...]
    ballots: tuple[Ballot, ...]

    @property
    def workflow(self) -> str:
        return str(self.run.experiment.workflow)


def rows_of(run: Run) -> Rows:
    """Fetched once. Requests stay where they are: they hold every prompt."""
    changed = Q(data__edited=True) | Q(data__action__in=sorted(CHOICES))
    steps = run.steps.filter(~Q(kind="listen") | changed).order_by("id")
    calls = run.calls.select_related("step", "model__provider").order_by("step_id", "attempt")
    return Rows(
        run=run,
        config={**run.experiment.config, **run.overrides},
        participants=tuple(run.experiment.participants.select_related("model__provider")),
        steps=tuple(steps),
        calls=tuple(calls.defer("request", "logprobs", "text", "reasoning", "step__data")),
        judgments=tuple(run.judgments.order_by("turn", "subject", "id")),
        ballots=tuple(ballots(run).select_related("step")),
    )


def setup(rows: Rows) -> Section:
    """From the experiment's configuration, never from a form."""
    surface = surface_of(rows.workflow)
    settings = surface.told.settings or (_declared_settings if surface.setup else None)
    return Section("setup", _("Set-up"), (*_seats(rows), *(settings(rows) if settings else ())))


def _declared_settings(rows: Rows) -> list[Block]:
    """What the set-up page declares, with its labels; texts of some length stand by themselves."""
    found = list(facts(rows.workflow, rows.config))
    short = [Fact(one.label, one.text) for one in found if not one.is_long]
    ends = [Fact(_("Seed"), str(rows.run.seed)), *changes(rows)]
    return [Facts((*short, *ends)), *(prompt(one.name, one.label, one.text) for one in found if one.is_long)]


def _seats(rows: Rows) -> list[Block]:
    columns = (
        Column(_("Participant"), share=1.0),
        Column(_("Model"), share=2.0),
        Column(_("Served as"), share=2.0),
        Column(_("Persona"), share=1.2),
        Column(_("Parameters sent"), share=2.4),
    )
    own = {one.seat: one.model_id for one in rows.participants}
    served: set[tuple[str, int | None, str]] = set()
    for call in rows.calls:
        if call.served_model:
            name = f"{call.served_model} ({call.served_provider})" if call.served_provider else call.served_model
            served.add((call.step.seat, call.model_id, name))
    seats = []
    for one in rows.participants:
        model, provider = one.model, one.model.provider
        simulated = f" ({_('simulated')})" if provider.is_simulated else ""
        names = {  # of its own answers, and of those that its model gave for a seat whose own model could not
            name
            for seat, served_by, name in served
            if served_by == one.model_id and (seat == one.seat or own.get(seat) != served_by)
        }
        cells = (
            words.seat_name(one.seat),
            f"{model.label} · {provider.name}{simulated}",
            ", ".join(sorted(names)) or MISSING,
            one.persona or MISSING,
            _parameters(_sent_parameters(rows.run, one.seat) or one.params) or MISSING,
        )
        seats.append(cells)
    seats += [
        (words.seat_name(one.seat), _("Person: %(name)s") % {"name": one.called}, MISSING, MISSING, MISSING)
        for one in rows.run.experiment.people.select_related("person")
    ]
    return [Table(_("Participants"), columns, tuple(seats))] if seats else []


def _sent_parameters(run: Run, seat: str) -> dict[str, object]:
    """What the latest call of a seat was sent beside its messages."""
    call = run.calls.filter(step__seat=seat).order_by("sent", "id").only("request").last()
    return {name: value for name, value in call.request.items() if name not in NOT_PARAMETERS} if call else {}


def _parameters(params: Mapping[str, object]) -> str:
    def written(value: Any) -> str:
        if isinstance(value, dict):
            return f"({_parameters(value)})"
        return f"{value:g}" if isinstance(value, float) else str(value)

    return ", ".join(f"{name} {written(value)}" for name, value in sorted(params.items()))


# --- what the set-ups of workflows share ---


def of_side(side: str) -> str:
    return _("Prompt for %(seat)s") % {"seat": words.seat_name(side)}


def prompt(anchor: str, title: str, text: str, seat: str = "", *, none: str = "") -> Part:
    """A text by itself; `none` stands in the place of a blank one."""
    badge = words.badge(seat) if seat else ""
    is_given = text.strip() or not none
    shown = Text(text or _("(none)"), "plain") if is_given else Text(none, "note")
    return Part(anchor, seat, badge, title, (shown,))


def script(rows: Rows) -> list[Block]:
    """The messages of a script with their conditions, where there are any."""
    lines = rows.config.get("script") or []
    columns = (Column(_("Message"), share=5.0), Column(_("Sent"), share=1.5), Column(_("Words"), share=1.5))
    sides = [f"{words.seat_name(one['to'])}, " if one.get("to", "both") != "both" else "" for one in lines]
    cells = (
        (one["text"], f"{side}{SCRIPT_CONDITIONS[one['when']]}", one["pattern"])
        for side, one in zip(sides, lines, strict=True)
    )
    return [Table(_("Script"), columns, tuple(cells))] if lines else []


def turns(rows: Rows) -> str:
    return grouped(rows.config["max_turns"]) if rows.config.get("max_turns") else _("unlimited")


def judging_facts(rows: Rows) -> list[Fact]:
    """How the judge works, where there is one. Of runs from before these settings, they are off."""
    config = rows.config
    if not config.get("judge", True):
        return []
    if by := instrument_facts(rows):
        return by
    seconds = config.get("judge_seconds")
    limit = _("none") if seconds is None else _("%(n)s seconds, two attempts") % {"n": figure(seconds, 0)}
    return [
        Fact(_("The judge reads the models' reasoning"), words.yes_or_no(config.get("judge_sees_reasoning"))),
        Fact(_("Time limit of the judge"), limit),
    ]


def instrument_facts(rows: Rows) -> list[Fact]:
    """By what the judge measures; nothing where there is no judge, or it gives the built-in scores."""
    instrument = rows.config.get("judge", True) and rows.config.get("instrument")
    return [Fact(_("Instrument"), f"{instrument['title']} ({instrument['version']})")] if instrument else []


def closing_facts(rows: Rows) -> list[Fact]:
    """What the settings of every workflow end with."""
    return [Fact(_("Limits"), limits(rows)), Fact(_("Seed"), str(rows.run.seed)), *changes(rows)]


def limits(rows: Rows) -> str:
    return limits_shown(rows.config.get("limits"), exact_money)


def changes(rows: Rows) -> list[Fact]:
    """Settings that somebody changed while the run was played."""

    def shown(name: str, value: Any) -> str:
        if name == "limits":
            return limits_shown(value, exact_money)
        return _("unlimited") if value is None else str(value)

    before = rows.run.experiment.config
    changed = [
        f"{name}: {shown(name, before.get(name))} → {shown(name, value)}"
        for name, value in sorted(rows.run.overrides.items())
    ]
    return [Fact(_("Changed during the run"), ", ".join(changed))] if changed else []
