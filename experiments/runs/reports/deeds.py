"""What people did to a run: prompts they rewrote, choices they made, and interventions."""

from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Step
from experiments.runs.reports import words
from experiments.runs.reports.document import ASKED_AGAIN, INTERVENTION, is_edited
from experiments.runs.reports.report import Block, Entry, Fold, Part, Text


def told(step: Step) -> Entry:
    """The entry of a step that `is_intervention`."""
    title, blocks = _intervention(step) if step.purpose == INTERVENTION else _at_a_pause(step)
    return Entry(
        anchor=f"step-{step.pk}",
        seat="operator",
        badge="O",
        title=title,
        by=str(step.data.get("by") or ""),
        when=words.moment(step.ended),
        tone="operator",
        marks=(),
        blocks=tuple(blocks),
    )


def _at_a_pause(step: Step) -> tuple[str, list[Block]]:
    if is_edited(step):
        return _edited(step)
    action, seat = step.data["action"], {"seat": words.seat_name(step.seat)}
    if action in ASKED_AGAIN:
        seat = {"seat": words.seat_name(str(step.data.get("text", "")))}
    if step.purpose == "final_prompt" and action == "retry":
        return _("Another refinement was asked for"), []
    chosen = {
        "skip": _("%(seat)s was skipped") % seat,
        "next": _("The rest of the turn was skipped"),
        "end": _("The talk was ended"),
        "regenerate": _("Another answer to the same question was asked for"),
        "retry": _("The question was asked again"),
        "retry_seat": _("%(seat)s was asked again") % seat,
        "retry_short": _("%(seat)s was asked again, with less before it") % seat,
        "deliberate": _("The answers were ranked again"),
        "conclude": _("Another conclusion was asked for"),
        "summarize": _("Another summary was asked for"),
        "round": _("A second round was asked for"),
    }
    return chosen[action], []


def _edited(step: Step) -> tuple[str, list[Block]]:
    seat = {"seat": words.seat_name(step.seat)}
    what = (
        _("The empty message of %(seat)s was replaced") if step.purpose == "nothing_to_pass"
        else _("The final prompt was edited") if step.purpose == "final_prompt"
        else _("The prompt of %(seat)s was rewritten")
    )  # fmt: skip
    offered = Fold(_("What was offered"), _("the text before the change"), (Text(step.data["default"], "plain"),))
    return what % seat, [Text(str(step.data.get("text", "")), "plain"), offered]


def _intervention(step: Step) -> tuple[str, list[Block]]:
    data = step.data
    seat = {"seat": words.seat_name(data.get("seat", ""))}
    titles = {
        "friend": _("%(seat)s asked a friend in private"),
        "note": _("%(seat)s got a private note"),
        "alter": _("What %(seat)s reads was altered"),
    }
    title = titles.get(data.get("kind", ""), _("Intervention for %(seat)s")) % seat
    missed: list[Block] = [Text(str(data["missed"]), tone="warning")] if data.get("missed") else []
    return title, [*_texts(step, data), *missed]


def _texts(step: Step, data: dict[str, Any]) -> list[Block]:
    parts = [
        (_("Question"), data.get("question")),
        (_("What it read before"), data.get("original")),
        (_("The friend's answer") if data.get("kind") == "friend" else _("Text"), data.get("text")),
    ]
    answered = f" · {data['model']}" if data.get("model") else ""
    return [
        Part(f"step-{step.pk}-{place}", "", "", title + (answered if place == 2 else ""), (Text(str(text), "plain"),))
        for place, (title, text) in enumerate(parts)
        if text
    ]
