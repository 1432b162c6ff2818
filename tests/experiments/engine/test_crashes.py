"""Whenever a worker dies, the run completes as if nothing had happened, and no recorded step is asked again."""

import pytest

from experiments.engine import driver
from experiments.models import Cycle, Experiment, Run
from experiments.runs.steering import steering
from tests.experiments import contesting
from tests.experiments.contests import judgment
from tests.experiments.deliberating import FAST, fresh
from tests.experiments.engine import crashes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

TALK = {"a": "sim/cooperative:first=0:words=30", "b": "sim/deceptive:first=0:words=30", "max_turns": 2}
SAYS = {
    "arena": {
        "turn/1/A/prompt": ("note", "Bluff."),
        "turn/1/A/prompt/2": ("send", "Say what you want."),
        "turn/1/B/prompt": ("alter", "I want nothing."),
        "turn/1/B/prompt/2": ("default", ""),
        "turn/1/next": ("next", ""),
        "turn/2/A/prompt": ("skip", ""),
        "turn/2/B/prompt": ("default", ""),
    },
    "debate": {
        "prompt": ("send", "How should four groups share one telescope?"),
        "round/1/next": ("round", "There are ten clear nights."),
        "round/2/next": ("summarize", ""),
    },
}


class Play:
    """begin: makes a run of it that waits for a driver. go_on: drives it, with a person's words, until it is over.

    provider: the simulated one, where all calls are to it.
    """

    def __init__(self, begin, drive, by, says, provider=None):
        self.begin, self.provider = begin, provider
        self._drive, self._by, self._says = drive, by, says

    def go_on(self, run):
        self._drive()
        while fresh(run).state == Run.State.WAITING:
            [pause] = fresh(run).open_pauses
            action, text = self._says[pause.key]
            steering.say(run, by=self._by, key=pause.key, action=action, text=text)
            self._drive()


@pytest.fixture
def play(request, alice, start, drive, monkeypatch):
    monkeypatch.setattr(driver, "DATABASE_PAUSE", 0)
    make, name = request.getfixturevalue, request.param
    if name == "contest":
        answers = (contesting.quick(judgment=judgment(9)), contesting.quick(solution="No."), None)
        slugs = contesting.models(make("scripted"), *answers)

        def contest():
            Cycle.objects.update(fingerprint=[])  # or the problem would be none that is new
            return contesting.begun(alice, start, slugs)

        with contesting.sandbox_as_played():
            yield Play(contest, drive, alice, {})
        return
    experiment = {
        "arena": lambda: make("arena")(**TALK, mode="manual"),
        "council": lambda: make("council")(*FAST[:2], title=True),
        "debate": lambda: make("debate")(mode="manual", rounds=2),
    }[name]()
    title = experiment.title

    def begin():
        Experiment.objects.filter(pk=experiment.pk).update(title=title)  # which is found once
        run = start(experiment)
        if name == "council":
            steering.ask_further(run, by=alice, text="And at sunset?")
        return run

    yield Play(begin, drive, alice, SAYS.get(name, {}), make("provider"))


each_play = pytest.mark.parametrize("play", ["arena", "council", "debate", "contest"], indirect=True)


def assert_nothing_changes(monkeypatch, play, moments):
    undisturbed = play.begin()
    names = crashes.writes_of(monkeypatch, lambda: play.go_on(undisturbed))
    expected = crashes.record(undisturbed)
    for moment, fault in moments(names):
        run = play.begin()
        with monkeypatch.context() as patch:
            crashes.break_at(patch, moment, fault)
            if fault == crashes.FAULTS[2]:
                play.go_on(run)
            else:
                with pytest.raises(crashes.PowerCut):
                    play.go_on(run)
        crashes.expire_leases()
        play.go_on(run)

        at = f"{fault} of write {moment}, {names[moment - 1]}"
        run = fresh(run)
        assert run.state == Run.State.COMPLETED, f"{at}: {run.error}"
        assert crashes.record(run) == expected, at
        crashes.assert_books_balance(run, play.provider)


@each_play
def test_a_crash_at_one_write_of_each_kind_changes_nothing(play, monkeypatch):
    assert_nothing_changes(monkeypatch, play, crashes.one_of_each)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", crashes.FAULTS)
@each_play
def test_a_crash_at_any_write_changes_nothing(play, monkeypatch, fault):
    assert_nothing_changes(monkeypatch, play, lambda names: crashes.all_of_them(names, fault))
