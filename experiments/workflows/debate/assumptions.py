"""What is assumed of a debate where its cost is estimated."""

import json
from typing import Any

from experiments.workflows.base.dry_run import Assumptions, Path, as_set_up, mark
from experiments.workflows.base.steps import Ask, Listen, Outcome
from experiments.workflows.debate.config import Config


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """A debater makes one point as long as all of them are, for the others are shown the points."""
    if ask.role != "debater":
        return None
    points = [{"id": "p1", "contents": mark(tokens)}]
    return json.dumps({"speaker": ask.seat, "new_perspectives": points, "counterpoints": []}, ensure_ascii=False)


def _said(config: Config, pause: Listen, at_most: bool) -> Outcome | None:
    """At most a second round is asked for, where a person may."""
    if at_most and config.mode == "manual" and pause.reason == "after_round" and "round" in pause.actions:
        return Outcome(text=pause.default, action="round")
    return as_set_up(config, pause, at_most)


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """No answer can be read before it is given again: a failure would leave less to be shown to the others."""
    return Path.READ if ask.purpose == "repair" else Path.UNREAD


ASSUMPTIONS = Assumptions(
    typical={"refinement": 350, "reply": 450, "summary": 450, "repair": 450},
    answer=_answer,
    said=_said,
    dearest=_dearest,
)
