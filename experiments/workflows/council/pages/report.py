"""What the report of a council says of its result, of how it was set up, and of its stages."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from experiments.models import Call
from experiments.runs.reports import counting, words
from experiments.runs.reports.report import Block, Fact, Facts, Part, Text
from experiments.runs.reports.setup import Rows, closing_facts, instrument_facts, prompt, script, turns
from experiments.workflows.council.pages.rankings import COUNTED


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    own = _("ranked, too") if config.get("own_answers") == "included" else _("not shown to their authors")
    cut = _("ranked") if config.get("truncated", "eligible") == "eligible" else _("not ranked")
    facts = (
        Fact(_("Own answers"), own),
        Fact(_("Truncated answers"), cut),
        Fact(_("Title asked for"), words.yes_or_no(config.get("title", True))),
        Fact(_("Max questions"), turns(rows)),
        *instrument_facts(rows),
        *closing_facts(rows),
    )
    context, criteria = (str(config.get(name, "")) for name in ("system_prompt", "criteria"))
    return [
        Facts(facts),
        prompt("context", _("System context"), context, none=_("None: the members got no system message.")),
        *([prompt("criteria", _("Ranking criteria"), criteria)] if criteria else []),
        prompt("question", _("First question"), str(config.get("question", ""))),
        *script(rows),
    ]


def finding(rows: Rows) -> Iterator[Block]:
    """The last conclusion, and how the last ballots ranked the answers."""
    said = rows.run.messages.filter(step__purpose="conclusion", superseded=False).order_by("turn", "seq").last()
    if said is None:
        yield Text(_("There is no conclusion."), tone="muted")
    else:
        title = f"{words.seat_name(said.seat)} · {words.purpose_name('conclusion')}"
        yield Part("conclusion", said.seat, words.badge(said.seat), title, (Text(said.raw_text, "prose"),))
    if counted := [step for step in rows.steps if step.purpose == COUNTED]:
        yield from counting.answers(counted[-1])


def stage_of(call: Call) -> str:
    step, turn = call.step, {"turn": call.step.turn}
    if step.purpose == "title":
        return _("Title")
    names = {
        "review": _("Question %(turn)s: reviews"),
        "repair": _("Question %(turn)s: reviews"),
        "conclusion": _("Question %(turn)s: conclusion"),
        "judge": _("Question %(turn)s: judge"),
    }
    return names.get(step.purpose, _("Question %(turn)s: answers")) % turn
