"""How the run was set up: from its experiment's configuration, never from a form."""

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Call, Participant, Run
from experiments.reports import words
from experiments.reports.report import Block, Column, Fact, Facts, Fold, Part, Section, Table, Text
from experiments.reports.rows import Rows, sent_parameters
from experiments.templatetags.arena import MISSING, exact_money, figure, grouped


def setup(rows: Rows) -> Section:
    blocks = SETTINGS.get(rows.workflow)
    return Section("setup", _("Set-up"), (*_seats(rows), *(blocks(rows) if blocks else ())))


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


def parameters(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in sorted(params.items()))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({parameters(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _arena(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Prompting"), _("each side its own") if config.get("prompting") == "individual" else _("shared")),
        Fact(_("Mode"), str(Run.Mode(rows.run.mode).label)),
        Fact(_("Most turns"), _turns(config)),
        Fact(_("Begins"), _beginner(rows)),
        Fact(_("Content filter"), words.yes_or_no(config.get("filter"))),
        Fact(_("Judge"), _judge_setting(config)),
        *_judging_facts(config),
        Fact(_("Thinking asked for"), words.yes_or_no(config.get("elicit_thinking"))),
        Fact(_("Token probabilities asked for"), words.yes_or_no(config.get("logprobs"))),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seconds between turns"), figure(config.get("gap_seconds"))),
        Fact(_("Seed"), str(rows.run.seed)),
        *_changes(rows),
    )
    return [Facts(facts), *_arena_prompts(config), *_planned(config)]


def _arena_prompts(config: dict[str, Any]) -> list[Block]:
    own = str(config.get("system_prompt") or "")
    opening = [_prompt("system-prompt", _("System prompt"), own)] if own.strip() else []
    if config.get("prompting") == "individual":
        prompts = config.get("prompts") or {}
        return [*opening, *(_prompt(f"prompt-{s}", _of_side(s), str(prompts.get(s, "")), s) for s in ("A", "B"))]
    return [*opening, _prompt("prompt", _("Prompt for both"), str(config.get("prompt", "")))]


def _of_side(side: str) -> str:
    return _("Prompt for %(seat)s") % {"seat": words.seat_name(side)}


def _prompt(anchor: str, title: str, text: str, seat: str = "") -> Part:
    badge = words.badge(seat) if seat else ""
    return Part(anchor, seat, badge, title, (Text(text or _("(none)"), "plain"),))


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


def _starchamber(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Persona of the researcher"), config.get("persona") or _("You")),
        Fact(_("Preset"), config.get("preset") or MISSING),
        Fact(_("Token probabilities asked for"), words.yes_or_no(config.get("logprobs"))),
        Fact(_("Judge"), words.yes_or_no(config.get("judge"))),
        *_judging_facts(config),
        Fact(_("Most turns"), _turns(config)),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seed"), str(rows.run.seed)),
        *_changes(rows),
    )
    context = str(config.get("context", ""))
    shown = Text(context, "plain") if context.strip() else Text(_("None: the model got no system message."), "note")
    return [
        Facts(facts),
        Part("context", "", "", _("System context"), (shown,)),
        _prompt("first-message", _("First message"), str(config.get("first_message", ""))),
    ]


def _judging(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Judged run"), str(rows.run.parent_id or config.get("source") or MISSING)),
        Fact(_("Its workflow"), words.workflow_name(str(config.get("workflow", MISSING)))),
        Fact(_("Judged"), ", ".join(words.seat_name(seat) for seat in config.get("subjects", [])) or MISSING),
        Fact(_("Turns judged"), grouped(len(config.get("turns", [])))),
        *_judging_facts(config),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seed"), str(rows.run.seed)),
    )
    rubric = str(config.get("rubric", ""))
    shown = Text(rubric, "plain") if rubric.strip() else Text(_("The rubric that comes with the workflow."), "note")
    objectives = dict(config.get("objectives") or {})
    return [
        Facts(facts),
        Part("rubric", "", "", _("Rubric"), (shown,)),
        *(_prompt(f"objective-{seat}", _of_side(seat), str(text), seat) for seat, text in objectives.items()),
        *_judged_texts(config),
    ]


def _council(rows: Rows) -> list[Block]:
    config = rows.config
    own = _("ranked, too") if config.get("own_answers") == "included" else _("not shown to their authors")
    cut = _("ranked") if config.get("truncated", "eligible") == "eligible" else _("not ranked")
    facts = (
        Fact(_("Own answers"), own),
        Fact(_("Answers that were cut off"), cut),
        Fact(_("Title asked for"), words.yes_or_no(config.get("title", True))),
        Fact(_("Most questions"), _turns(config)),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seed"), str(rows.run.seed)),
        *_changes(rows),
    )
    context = str(config.get("system_prompt", ""))
    shown = Text(context, "plain") if context.strip() else Text(_("None: the members got no system message."), "note")
    return [
        Facts(facts),
        Part("context", "", "", _("System context"), (shown,)),
        _prompt("question", _("First question"), str(config.get("question", ""))),
    ]


def _debate(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Mode"), str(Run.Mode(rows.run.mode).label)),
        Fact(_("Refiner"), words.yes_or_no(config.get("refine", True))),
        Fact(_("Rounds planned"), grouped(config.get("rounds"))),
        Fact(_("Blind first round"), words.yes_or_no(config.get("blind"))),
        Fact(_("Another debater begins the second round"), words.yes_or_no(config.get("rotate"))),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seed"), str(rows.run.seed)),
        *_changes(rows),
    )
    addendum = str(config.get("addendum", ""))
    planned = [_prompt("addendum", _("Addendum planned"), addendum)] if addendum.strip() else []
    return [Facts(facts), _prompt("request", _("What was asked for"), str(config.get("prompt", ""))), *planned]


def _coding(rows: Rows) -> list[Block]:
    config = rows.config
    modes = {"in_turn": _("in turn"), "random": _("drawn by the seed")}
    auto = _("in turn where the cycles are a multiple of the pool, else drawn by the seed")
    facts = (
        Fact(_("Cycles planned"), grouped(config.get("cycles"))),
        Fact(_("Setters"), modes.get(str(config.get("setters")), auto)),
        Fact(_("Language"), str(config.get("language", "")).capitalize()),
        Fact(_("Health check"), words.yes_or_no(config.get("health_check", True))),
        Fact(_("Quorum"), grouped(config.get("quorum")), _("votes that a solution needs to be rated")),
        Fact(_("Seconds for each answer"), figure(config.get("call_seconds"), 0)),
        Fact(_("Seconds for each test"), figure(config.get("test_seconds"), 1)),
        Fact(_("Memory for each test"), f"{grouped(config.get('test_megabytes'))} MiB"),
        Fact(_("Limits"), limits(config)),
        Fact(_("Seed"), str(rows.run.seed)),
        *_changes(rows),
    )
    topic = str(config.get("topic", ""))
    return [Facts(facts), *([_prompt("topic", _("What the problems are about"), topic)] if topic.strip() else [])]


def _judged_texts(config: dict[str, Any]) -> Iterable[Block]:
    """What the judge was shown, turn by turn: the judged run's own report has it as a talk."""
    turns = config.get("turns", [])
    said = tuple(
        Part(
            f"shown-{turn['turn']}-{seat}",
            seat,
            words.badge(seat),
            _("Turn %(turn)s · %(seat)s") % {"turn": turn["turn"], "seat": words.seat_name(seat)},
            (Text(str(text), "plain"),),
        )
        for turn in turns
        for seat, text in turn.get("messages", {}).items()
    )
    return [Fold(_("What was judged"), _("as the judge was shown it"), said)] if said else []


def _turns(config: dict[str, Any]) -> str:
    return grouped(config["max_turns"]) if config.get("max_turns") else _("unlimited")


def _beginner(rows: Rows) -> str:
    swapped = (rows.config.get("first") == "B") != (bool(rows.config.get("counterbalance")) and rows.run.seed % 2 == 1)
    name = words.seat_name("B" if swapped else "A")
    return _("%(seat)s (alternates with the seed)") % {"seat": name} if rows.config.get("counterbalance") else name


def _judge_setting(config: dict[str, Any]) -> str:
    if not config.get("judge"):
        return words.yes_or_no(False)
    sees = {
        "filtered": _("sees the filtered messages"),
        "original": _("sees the messages as produced"),
        "both": _("sees the messages as produced and as filtered"),
    }
    deeds = _("and interventions") if config.get("judge_sees_interventions", True) else _("but no interventions")
    return f"{sees.get(config.get('judge_sees', 'filtered'), '')} {deeds}"


def _judging_facts(config: dict[str, Any]) -> list[Fact]:
    """How the judge works, where there is one. Of runs from before these settings, they are off."""
    if not config.get("judge", True):
        return []
    seconds = config.get("judge_seconds")
    limit = _("none") if seconds is None else _("%(n)s seconds, two attempts") % {"n": figure(seconds, 0)}
    return [
        Fact(_("The judge reads the models' reasoning"), words.yes_or_no(config.get("judge_sees_reasoning"))),
        Fact(_("Time limit of the judge"), limit),
    ]


def limits(config: dict[str, Any]) -> str:
    given = config.get("limits") or {}
    parts = [
        _("%(n)s tokens") % {"n": grouped(given["tokens"])} if given.get("tokens") else "",
        _("%(n)s seconds") % {"n": figure(given["seconds"], 0)} if given.get("seconds") else "",
        exact_money(given["cost"]) if given.get("cost") is not None else "",
    ]
    return ", ".join(part for part in parts if part) or _("none")


def _changes(rows: Rows) -> list[Fact]:
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
        return limits({name: value})
    return _("unlimited") if value is None else str(value)


SETTINGS: dict[str, Callable[[Rows], list[Block]]] = {
    "arena": _arena,
    "starchamber": _starchamber,
    "council": _council,
    "debate": _debate,
    "judging": _judging,
    "coding": _coding,
}
