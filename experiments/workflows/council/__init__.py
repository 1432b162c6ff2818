"""Council: everyone answers, everyone ranks the others' anonymised answers, the chair concludes.

A question is a turn. Once it is answered, the run is completed and offers what may follow: another question, a member
asked again, the answers ranked again, the conclusion drawn again.
"""

from collections.abc import Sequence

from experiments.workflows.council.config import SEATS, Config
from experiments.workflows.council.questions import questions
from experiments.workflows.council.talk import Talk
from experiments.workflows.council.title import find_title
from experiments.workflows.language import load_ahead
from experiments.workflows.steps import Cast, Play, numbered

__all__ = ["OPENING", "SEATS", "SUBJECTS", "Config", "next_key", "run"]

SUBJECTS: tuple[str, ...] = ()
OPENING = "question"


def run(config: Config, cast: Cast) -> Play:
    load_ahead()
    talk = Talk(config, cast)
    end, *_beside = yield [questions(talk), *([find_title(talk)] if config.title else [])]
    return end


def next_key(offers: Sequence[tuple[int, str | None]]) -> tuple[str, int]:
    """Where the next question is found when it is asked before there is an offer for it: (key, turn).

    offers: turn and action of each offer of the run so far, in order; the action is None while it is open.
    """
    if not offers:
        return "turn/1/next", 1
    turn, action = offers[-1]
    if action == "send":
        return f"turn/{turn + 1}/next", turn + 1
    return numbered(f"turn/{turn}/next", sum(1 for of, _action in offers if of == turn) + 1), turn
