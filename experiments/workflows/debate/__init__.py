"""Debate: a task is refined, three debaters speak in order for one or two rounds, a summary says what to do."""

from experiments.workflows.base import measuring
from experiments.workflows.base.steps import Cast, End, Play
from experiments.workflows.base.workflow import Workflow
from experiments.workflows.debate.config import DEBATERS, SEATS, Config
from experiments.workflows.debate.course import gone_on, played, refined, summed_up
from experiments.workflows.debate.talk import Talk

__all__ = ["SEATS", "WORKFLOW", "Config", "run"]

MEASURED = ("reply", "summary")


def run(config: Config, cast: Cast) -> Play:
    play, speakers = _run(config, cast), (*DEBATERS, "summarizer")
    return measuring.measured_beside(play, cast, config.asked_live, purposes=MEASURED, speakers=speakers)


def _run(config: Config, cast: Cast) -> Play:
    talk: Talk | End = yield from refined(Talk(config, cast, said=(config.prompt,)))
    number, summaries, step = 0, 0, "round"
    while not isinstance(talk, End):
        if step == "round":
            number += 1
            talk = yield from played(talk, number)
            if isinstance(talk, End):
                break
            went = yield from gone_on(talk, number)
            if isinstance(went, End):
                return went
            talk, step = went
        else:
            summed = yield from summed_up(talk, summaries)
            if isinstance(summed, End):
                return summed
            talk, step, summaries = summed
    return talk


WORKFLOW = Workflow(
    slug="debate",
    config=Config,
    seats=SEATS,
    run=run,
    place=4,
    people=("refiner", *DEBATERS, "summarizer"),
    leads="summarizer",
    flagged=("A", "B"),
    opening="prompt",
    passed={
        "prompt/final": ("prompt", "final_prompt"),
        "addendum": ("round/1/next", "after_round"),
        "summary/addendum": ("round/2/next", "after_round"),
        "summary/addendum/2": ("round/2/next", "after_round"),
    },
    records=measuring.RECORDS,
    surface=f"{__name__}.surface",
)
