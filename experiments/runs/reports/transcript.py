"""What was said and what happened, in order. Failures are told as failures, never as something that somebody said."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import CALLS_UNDER_WAY, Call, Run, Step, labels
from experiments.runs.reports import counting, words
from experiments.runs.reports.document import ASKED_AGAIN, INTERVENTION, is_edited, is_intervention
from experiments.runs.reports.messages import message_entries, without_review
from experiments.runs.reports.report import Block, Entry, Fold, Part, Section, Text, Tone, Turn
from experiments.runs.reports.setup import Rows
from experiments.templatetags.arena import error_label
from experiments.workflows.base.records import SeatReplacedData, StageStarted
from experiments.workflows.base.steps import SPOKEN
from experiments.workflows.base.surface import Told
from experiments.workflows.debate.config import DEBATERS


def transcript(rows: Rows, told: Told) -> Section:
    messages = message_entries(rows) if told.has_talk else {}
    seen = set(rows.run.messages.values_list("step__key", flat=True)) if rows.ballots else set()
    alone = {one.step_id: one for one in rows.ballots if one.step.key.removesuffix("/ballot") not in seen}
    calls: dict[int, list[Call]] = {}
    for call in rows.calls:
        calls.setdefault(call.step_id, []).append(call)
    last_counts = counting.latest(rows.steps)
    blocks: list[Block] = []
    for step in rows.steps:
        if ballot := alone.get(step.pk):
            blocks.append(without_review(ballot))
        blocks += _course(step, is_called=step.pk in calls, is_last=step.pk in last_counts)
        if step.purpose == "turn_started":
            blocks.append(Turn(f"turn-{step.turn}", str(told.turn or _("Turn %(turn)s")) % {"turn": step.turn}))
        elif is_intervention(step):
            blocks.append(_intervention(step))
        for call in calls.get(step.pk, ()):
            blocks += _trouble(step, call, is_last=call is calls[step.pk][-1])
        if step.pk in messages:
            blocks.append(messages[step.pk])
    in_order = [  # a turn in which nothing is told, as those of a judging are, needs no heading
        block
        for place, block in enumerate(blocks, 1)
        if not (isinstance(block, Turn) and all(isinstance(after, Turn) for after in blocks[place : place + 1]))
    ]
    nothing = [] if messages or not told.has_talk else [Text(_("This run has no messages."))]
    return Section("log", str(told.title or _("What happened")), (*in_order, *nothing, *ending(rows.run)))


def ending(run: Run) -> list[Block]:
    """How the run ended, by its own state: a stopped run is not a completed one."""
    if not run.is_over:
        return []
    titles = {
        Run.State.COMPLETED: _("The run was completed"),
        Run.State.STOPPED: _("The run was stopped"),
        Run.State.FAILED: _("The run failed"),
    }
    reason = f": {words.end_reason(run.stop_reason)}" if run.stop_reason else ""
    title, when = titles[Run.State(run.state)] + reason, words.moment(run.ended)
    tone: Tone = "danger" if run.state == Run.State.FAILED else "plain"
    return [Entry("ending", "■", title, when, (Text(run.error, "plain"),) if run.error else (), tone=tone)]


# --- calls that came to nothing ---


def _trouble(step: Step, call: Call, *, is_last: bool) -> Iterator[Entry]:
    goes_on = not is_last or step.state == Step.State.OPEN
    if call.state == Call.State.FAILED:
        yield _failure(step, call, _("The call failed and was repeated") if goes_on else _("No answer arrived"))
    elif call.state == Call.State.LOST:
        yield _failure(step, call, _("The call was lost") + (f" · {_('made again')}" if goes_on else ""))
    elif call.state == Call.State.STOPPED and step.purpose not in SPOKEN:
        yield _failure(step, call, _("The call was stopped"))
    elif call.state in CALLS_UNDER_WAY:
        yield _failure(step, call, _("In progress when this report was made"), "muted")


def _failure(step: Step, call: Call, what: str, tone: Tone = "danger") -> Entry:
    reason = _reason(call.error_kind, call.error)
    attempt = _("attempt %(n)s") % {"n": call.attempt}
    return Entry(
        anchor=f"call-{call.pk}",
        badge="!",
        title=f"{words.seat_name(step.seat)}: {what}",
        by=f"{words.purpose_name(step.purpose)}, {attempt}",
        when=words.moment(call.sent),
        tone=tone,
        blocks=(Text(reason, "plain"),) if reason else (),
    )


def _reason(kind: str, error: str) -> str:
    return ": ".join(part for part in (str(error_label(kind)) if kind else "", error) if part)


# --- how a council or a debate went beside what was said: stages, counts, replacements, what was skipped ---


def _course(step: Step, *, is_called: bool, is_last: bool) -> Iterator[Block]:
    """is_last: no later step counts the ballots of the same turn."""
    if step.purpose == "stage_started" and step.data["stage"] not in DEBATERS:
        yield Turn(f"stage-{step.pk}", _stage(step))
    elif step.purpose == "ballots_counted":
        yield counting.entry(step, is_latest=is_last)
    elif step.purpose == "seat_replaced":
        found = SeatReplacedData.read(step.data)
        names = {"seat": words.seat_name(found.seat), "by": words.seat_name(found.by), "model": found.model}
        why = _reason(found.reason, found.error)
        what = f"{found.failed_model}: {why}" if found.failed_model else why
        yield _happened(step, "!", _("%(seat)s: %(by)s (%(model)s) was asked instead") % names, what, "danger")
    elif step.purpose == "concluded_by_rank":
        seat = {"seat": words.seat_name(str(step.data.get("seat", "")))}
        title = _("No chair could conclude. The best-ranked answer, by %(seat)s, is used instead") % seat
        yield _happened(step, "!", title, str(step.data.get("reason") or ""), "danger")
    elif step.purpose == "titled" and step.data:
        yield _happened(step, "T", _("A title was generated"), str(step.data.get("title", "")))
    elif step.kind == "ask" and step.state == Step.State.FAILED and not is_called and "outcome" in step.data:
        title = _("%(seat)s was not asked: the run reached a limit") % {"seat": words.seat_name(step.seat)}
        yield _happened(step, "!", title, "", "danger")


def _stage(step: Step) -> str:
    stage = StageStarted.read(step.data)
    name = str(labels.stage_name(stage.stage))
    if stage.of < 2:
        return name
    return _("Stage %(number)s of %(of)s: %(name)s") % {"number": stage.number, "of": stage.of, "name": name}


def _happened(step: Step, badge: str, title: str, text: str, tone: Tone = "plain") -> Entry:
    blocks = (Text(text, "plain"),) if text else ()
    return Entry(f"step-{step.pk}", badge, title, words.moment(step.ended), blocks, tone=tone)


# --- what people did: prompts they rewrote, choices they made, and interventions ---


def _intervention(step: Step) -> Entry:
    """The entry of a step that `is_intervention`."""
    seat = {"seat": words.seat_name(step.data.get("seat", "") if step.purpose == INTERVENTION else step.seat)}
    blocks: list[Block] = []
    if step.purpose == INTERVENTION:
        titles = {
            "friend": _("%(seat)s asked a friend in private"),
            "note": _("%(seat)s got a private note"),
            "message": _("%(seat)s got a message for both"),
            "alter": _("What %(seat)s reads was altered"),
        }
        title = titles.get(step.data.get("kind", ""), _("Intervention for %(seat)s")) % seat
        blocks = _texts(step, step.data)
    elif is_edited(step):
        titles = {
            "nothing_to_pass": _("The empty message of %(seat)s was replaced"),
            "final_prompt": _("The final prompt was edited"),
        }
        title = titles.get(step.purpose, _("The prompt of %(seat)s was rewritten")) % seat
        offered = (Text(step.data["default"], "plain"),)
        blocks = [
            Text(str(step.data.get("text", "")), "plain"),
            Fold(_("What was offered"), _("the text before the change"), offered),
        ]
    else:
        title = _choice(step)
    return Entry(
        anchor=f"step-{step.pk}",
        seat="operator",
        badge="O",
        title=title,
        by=str(step.data.get("by") or ""),
        when=words.moment(step.ended),
        tone="operator",
        blocks=tuple(blocks),
    )


def _choice(step: Step) -> str:
    action = step.data["action"]
    if step.purpose == "final_prompt" and action == "retry":
        return _("Another refinement was requested")
    seat = {"seat": words.seat_name(str(step.data.get("text", "")) if action in ASKED_AGAIN else step.seat)}
    chosen = {
        "skip": _("%(seat)s was skipped") % seat,
        "next": _("The rest of the turn was skipped"),
        "end": _("The run was ended"),
        "regenerate": _("Another answer was requested"),
        "retry": _("The question was asked again"),
        "retry_seat": _("%(seat)s was asked again") % seat,
        "retry_short": _("%(seat)s was asked again, with less before it") % seat,
        "deliberate": _("The answers were ranked again"),
        "conclude": _("Another conclusion was requested"),
        "summarize": _("Another summary was requested"),
        "round": _("A second round was requested"),
    }
    return chosen[action]


def _texts(step: Step, data: dict[str, Any]) -> list[Block]:
    """Of an intervention, and why it came to nothing where it did."""
    answered = f" · {data['model']}" if data.get("model") else ""
    texts = (
        (_("Question"), data.get("question")),
        (_("What it read before"), data.get("original")),
        ((_("The friend's answer") if data.get("kind") == "friend" else _("Text")) + answered, data.get("text")),
    )
    blocks: list[Block] = [
        Part(f"step-{step.pk}-{place}", "", "", title, (Text(str(text), "plain"),))
        for place, (title, text) in enumerate(texts)
        if text
    ]
    return [*blocks, *([Text(str(data["missed"]), tone="warning")] if data.get("missed") else [])]
