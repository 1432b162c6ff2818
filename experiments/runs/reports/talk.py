"""What was said and what happened, in order. Failures are told as failures, never as something that somebody said."""

from collections.abc import Iterator, Sequence

from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.models import Call, Run, Step
from experiments.runs.reports import course, deeds, words
from experiments.runs.reports.document import is_intervention
from experiments.runs.reports.messages import said
from experiments.runs.reports.report import Block, Entry, Section, Text, Turn
from experiments.runs.reports.rows import Rows
from experiments.templatetags.arena import error_label
from experiments.workflows.base.steps import SPOKEN
from experiments.workflows.base.surface import Told


def talk(rows: Rows, told: Told) -> Section:
    messages = said(rows) if told.has_talk else {}
    calls = _calls_by_step(rows)
    further = course.told(rows)
    entries = [
        block
        for step in rows.steps
        for block in (*further.get(step.pk, ()), *_of_step(told, step, messages, calls.get(step.pk, [])))
    ]
    nothing = [] if messages or not told.has_talk else [Text(_("Nothing was said in this run."))]
    return Section("log", str(told.title or _("What happened")), (*_in_order(entries), *nothing, *ending(rows.run)))


def _calls_by_step(rows: Rows) -> dict[int, list[Call]]:
    calls: dict[int, list[Call]] = {}
    for call in rows.calls:
        calls.setdefault(call.step_id, []).append(call)
    return calls


def _of_step(told: Told, step: Step, messages: dict[int, Entry], calls: Sequence[Call]) -> Iterator[Block]:
    if step.purpose == "turn_started":
        yield Turn(f"turn-{step.turn}", str(told.turn or _("Turn %(turn)s")) % {"turn": step.turn})
    elif is_intervention(step):
        yield deeds.told(step)
    for call in calls:
        yield from _trouble(step, call, is_last=call is calls[-1])
    if step.pk in messages:
        yield messages[step.pk]


def _in_order(blocks: Sequence[Block]) -> list[Block]:
    """A turn in which nothing is told, as those of a judging are, needs no heading."""
    return [
        block
        for place, block in enumerate(blocks, 1)
        if not (isinstance(block, Turn) and all(isinstance(after, Turn) for after in blocks[place : place + 1]))
    ]


def _trouble(step: Step, call: Call, *, is_last: bool) -> Iterator[Entry]:
    goes_on = not is_last or step.state == Step.State.OPEN
    if call.state == Call.State.FAILED:
        yield _failure(step, call, _("The call failed and was made again") if goes_on else _("No answer came back"))
    elif call.state == Call.State.LOST:
        yield _failure(step, call, _("The call was lost") + (f" · {_('made again')}" if goes_on else ""))
    elif call.state == Call.State.STOPPED and step.purpose not in SPOKEN:
        yield _failure(step, call, _("The call was stopped"))
    elif call.state == Call.State.SENT:
        yield _failure(step, call, _("Under way when this report was made"), tone_is_calm=True)


def _failure(step: Step, call: Call, what: str, *, tone_is_calm: bool = False) -> Entry:
    purpose = words.purpose_name(step.purpose)
    attempt = _("attempt %(n)s") % {"n": call.attempt}
    kind = str(error_label(call.error_kind)) if call.error_kind else ""
    reason = ": ".join(part for part in (kind, call.error) if part)
    return Entry(
        anchor=f"call-{call.pk}",
        seat="",
        badge="!",
        title=f"{words.seat_name(step.seat)}: {what}",
        by=f"{purpose}, {attempt}",
        when=words.moment(call.sent),
        tone="muted" if tone_is_calm else "danger",
        marks=(),
        blocks=(Text(reason, "plain"),) if reason else (),
    )


def ending(run: Run) -> list[Block]:
    """How the run ended, by its own state: a stopped run is not a completed one."""
    if not run.is_over:
        return []
    titles = {
        Run.State.COMPLETED: _("The run was completed"),
        Run.State.STOPPED: _("The run was stopped"),
        Run.State.FAILED: _("The run failed"),
    }
    reason = words.end_reason(run.stop_reason) if run.stop_reason else ""
    return [
        Entry(
            anchor="ending",
            seat="",
            badge="■",
            title=titles[Run.State(run.state)] + (f": {reason}" if reason else ""),
            by="",
            when=words.moment(run.ended),
            tone="danger" if run.state == Run.State.FAILED else "plain",
            marks=(),
            blocks=(Text(run.error, "plain"),) if run.error else (),
        )
    ]


def unfinished(run: Run) -> Text | None:
    """What a reader of a report must know when its run still goes on."""
    if run.is_over:
        return None
    told = _(
        "This run had not ended when the report was made (%(state)s): it shows what was recorded until %(moment)s."
    )
    return Text(told % {"state": run.get_state_display(), "moment": words.moment(timezone.now())}, tone="warning")
