"""Councils that are really played: of simulated models, or of models that say what a test has written down."""

import re

from experiments.models import Run
from experiments.runs.steering import steering
from experiments.runs.timeline import arranged, from_rows, replayed
from experiments.workflows.council.pages.pages import slot_of
from tests.experiments.councils import listed
from tests.making import maker

FAST = ("sim/cooperative:first=0:words=30", "sim/competitive:first=0:words=30", "sim/neutral:first=0:words=30")
SHOWN = re.compile(r"\[\[response-([A-Z]{1,2}) \w+\]\]\n(.*?)\n\[\[/response-", re.DOTALL)


def fresh(run) -> Run:
    return Run.objects.select_related("experiment").get(pk=run.pk)


def assert_same_page(run) -> None:
    """The page made of the rows, and the one made of the events, show the same in each place, in the same order.

    Who answers side by side does so in any order; each has a place of their own.
    """
    run = fresh(run)
    rows, events = (arranged(shown, slot_of) for shown in (from_rows(run), replayed(run.events.order_by("seq"))))
    assert {slot: [entry.anchor for entry in shown] for slot, shown in rows.items()} == {
        slot: [entry.anchor for entry in shown] for slot, shown in events.items()
    }
    for slot, shown in rows.items():
        assert list(map(_lasting, shown)) == list(map(_lasting, events[slot])), slot


def _lasting(entry):
    """How long a pause was meant to be, and what a limit did not allow to be asked, only the events say."""
    return {name: value for name, value in entry.data.items() if name not in ("seconds", "refused")}


def calls(run, purpose: str) -> list[tuple[str, str]]:
    """Key and state of every attempt."""
    return [(call.step.key, call.state) for call in run.calls.filter(step__purpose=purpose).select_related("step")]


def told(run, key: str) -> str:
    """The last message of a step's last request."""
    return run.calls.filter(step__key=key).latest("attempt").request["messages"][-1]["content"]


def offer(run):
    return fresh(run).open_offers[-1]


def counted(run, turn: int = 1) -> dict:
    """The data of a turn's latest count."""
    return run.steps.filter(purpose="ballots_counted", turn=turn).latest("id").data


def member(says: str, review=None):
    """A model that says something, and prefers answers in the order of `review`: texts, the best first, or a function
    from labelled answers to a review. Without, it ranks them as they are shown.
    """

    def answer(body):
        asked = body["messages"][-1]["content"]
        if "You are the chair" in asked:
            return f"{says} All in all."
        if "FINAL RANKING:" not in asked:
            return says
        answers = dict(SHOWN.findall(asked))
        if callable(review):
            return review(answers)
        order = sorted(answers, key=lambda letter: review.index(answers[letter])) if review else list(answers)
        return f"Both are fine.\n\n{listed([f'Response {letter}' for letter in order])}"

    return answer


@maker
def take_up(alice, drive, /, run, action, text=""):
    steering.say(run, by=alice, key=offer(run).key, action=action, text=text)
    drive()
    return fresh(run)


@maker
def convene(council, start, drive, /, *members, seed=7, **config):
    run = start(council(*(members or FAST), **config), seed)
    drive()
    return fresh(run)
