"""What people meet of an interview."""

import json

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.dry_run import Assumptions, mark
from experiments.workflows.base.steps import Ask
from experiments.workflows.base.surface import LIMITS, Group, SeatForm, Seats, Setup, Surface, Told

SAMPLING = ("temperature", "max_tokens", "reasoning_effort")


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """Each topic is covered after its first answer; at most it never is."""
    if ask.seat != "interviewer" or ask.schema is None:
        return None
    is_covered = not at_most and not ask.key.endswith("/1")
    return json.dumps({"covered": is_covered, "question": mark(tokens)}, ensure_ascii=False)


SURFACE = Surface(
    name=_("Interview"),
    description=_("One model questions another about your topics, follows up, and sums up what it has learned."),
    setup=Setup(
        title=_("New interview"),
        parts=(
            Group(("topics", "context")),
            Seats(
                (
                    SeatForm("interviewer", _("Interviewer"), params=SAMPLING),
                    SeatForm("subject", _("Subject"), _("Who is questioned."), params=SAMPLING),
                    SeatForm("judge", _("Judge"), nobody=_("lab default"), needs="judge", is_tool=True),
                ),
                title=_("Seats"),
            ),
            Group(("follow_ups",)),
            LIMITS,
        ),
        labels={
            "topics": _("Topics"),
            "context": _("What the subject is told"),
            "follow_ups": _("Further questions about a topic, at most"),
        },
        hints={"topics": _("One a line. Each is a turn.")},
        main="topics",
    ),
    home="interview",
    seats={"interviewer": _("Interviewer"), "subject": _("Subject")},
    entries={"interview_topic_closed": "topic-{turn}"},
    turns=_("Topics"),
    again=_("Run again"),
    assumptions=Assumptions(typical={"reply": 200, "conclusion": 450, "judge": 400}, answer=_answer),
    assumed=_("Assumed: questions and answers of 200 tokens, topics covered after one answer, 60 tokens a second."),
    told=Told(title=_("Interview log"), turn=_("Topic %(turn)s")),
)
