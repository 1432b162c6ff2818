"""How a council or a debate went beside what was said: stages, counts, replacements, what was skipped."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Step, labels
from experiments.runs.reports import counting, reviews, words
from experiments.runs.reports.report import Block, Entry, Text, Tone, Turn
from experiments.runs.reports.rows import Rows
from experiments.templatetags.arena import error_label
from experiments.workflows.base.records import SeatReplacedData, StageStarted
from experiments.workflows.debate.config import DEBATERS

Blocks = dict[int, tuple[Block, ...]]


def told(rows: Rows) -> Blocks:
    """What is told of a step before what was called and said in it, by the step."""
    seen = set(rows.run.messages.values_list("step__key", flat=True)) if rows.ballots else set()
    alone = {
        ballot.step_id: reviews.without_review(ballot)
        for ballot in rows.ballots
        if ballot.step.key.removesuffix("/ballot") not in seen
    }
    called = {call.step_id for call in rows.calls}
    last = counting.latest(rows.steps)
    blocks: Blocks = {}
    for step in rows.steps:
        entry = alone.get(step.pk)
        found = [*([entry] if entry else []), *_of_step(step, is_called=step.pk in called, last=last)]
        if found:
            blocks[step.pk] = tuple(found)
    return blocks


def _of_step(step: Step, *, is_called: bool, last: set[int]) -> Iterator[Block]:
    if step.purpose == "stage_started" and step.data["stage"] not in DEBATERS:
        yield Turn(f"stage-{step.pk}", _stage(step))
    elif step.purpose == "ballots_counted":
        yield counting.entry(step, is_latest=step.pk in last)
    elif step.purpose == "seat_replaced":
        yield _replaced(step)
    elif step.purpose == "concluded_by_rank":
        yield _by_rank(step)
    elif step.purpose == "titled" and step.data:
        yield _entry(step, "T", _("A title was found"), [Text(str(step.data.get("title", "")), "plain")])
    elif step.kind == "ask" and step.state == Step.State.FAILED and not is_called and "outcome" in step.data:
        title = _("%(seat)s was not asked: a limit of the run was reached") % {"seat": words.seat_name(step.seat)}
        yield _entry(step, "!", title, [], "danger")


def _stage(step: Step) -> str:
    stage = StageStarted.read(step.data)
    name = labels.stage_name(stage.stage)
    if stage.of < 2:
        return str(name)
    place = {"number": stage.number, "of": stage.of, "name": name}
    return _("Stage %(number)s of %(of)s: %(name)s") % place


def _replaced(step: Step) -> Entry:
    found = SeatReplacedData.read(step.data)
    names = {"seat": words.seat_name(found.seat), "by": words.seat_name(found.by), "model": found.model}
    title = _("%(seat)s: %(by)s (%(model)s) was asked instead") % names
    kind = str(error_label(found.reason)) if found.reason else ""
    why = ": ".join(part for part in (kind, found.error) if part)
    said = f"{found.failed_model}: {why}" if found.failed_model else why
    return _entry(step, "!", title, [Text(said, "plain")] if said else [], "danger")


def _by_rank(step: Step) -> Entry:
    seat = {"seat": words.seat_name(str(step.data.get("seat", "")))}
    title = _("Nobody could conclude: the best ranked answer, that of %(seat)s, stands in") % seat
    reason = str(step.data.get("reason") or "")
    return _entry(step, "!", title, [Text(reason, "plain")] if reason else [], "danger")


def _entry(step: Step, badge: str, title: str, blocks: list[Any], tone: Tone = "plain") -> Entry:
    return Entry(
        anchor=f"step-{step.pk}",
        seat="",
        badge=badge,
        title=title,
        by="",
        when=words.moment(step.ended),
        tone=tone,
        marks=(),
        blocks=tuple(blocks),
    )
