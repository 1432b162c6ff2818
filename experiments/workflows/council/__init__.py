"""Council: everyone answers, everyone ranks the others' anonymised answers, the chair concludes.

A question is a turn. Once it is answered, the run is completed and offers what may follow: another question, a member
asked again, the answers ranked again, the conclusion drawn again.
"""

from collections.abc import Sequence

from experiments.workflows.base import measuring
from experiments.workflows.base.steps import Cast, Play, numbered
from experiments.workflows.base.workflow import Branching, Offer, Workflow
from experiments.workflows.council.config import CHAIRS, MEMBERS, SEATS, Config
from experiments.workflows.council.questions import find_title, questions
from experiments.workflows.council.records import RECORDS
from experiments.workflows.council.talk import Talk

__all__ = ["SEATS", "WORKFLOW", "Config", "next_offer", "run"]

MEASURED = ("reply", "conclusion")


def run(config: Config, cast: Cast) -> Play:
    play, speakers = _run(config, cast), (*MEMBERS, "chair")
    return measuring.measured_beside(play, cast, config.asked_live, purposes=MEASURED, speakers=speakers)


def _run(config: Config, cast: Cast) -> Play:
    talk = Talk(config, cast)
    titled = config.title and not cast.seats["title" if "title" in cast.seats else "chair"].is_person
    end, *_beside = yield [questions(talk), *([find_title(talk)] if titled else [])]
    return end


def next_offer(offers: Sequence[Offer]) -> tuple[str, int]:
    """Where the next question is found when it is asked before there is an offer for it: (key, turn)."""
    if not offers:
        return "turn/1/next", 1
    turn, action = offers[-1]
    if action == "send":
        return f"turn/{turn + 1}/next", turn + 1
    return numbered(f"turn/{turn}/next", sum(1 for of, _action in offers if of == turn) + 1), turn


WORKFLOW = Workflow(
    slug="council",
    config=Config,
    seats=SEATS,
    run=run,
    place=3,
    people=(*MEMBERS, *CHAIRS),
    ranked=MEMBERS,
    leads="chair",
    opening="question",
    next_offer=next_offer,
    branches=Branching.QUESTIONS,
    records=(*RECORDS, *measuring.RECORDS),
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
)
