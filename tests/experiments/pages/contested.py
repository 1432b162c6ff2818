"""Contests that are played for the tests of their pages, and what holds for every one of these pages."""

from experiments.models import Run
from experiments.runs import timeline
from experiments.workflows.coding.pages import run_page
from experiments.workflows.coding.pages.run_page import slot_of
from tests.experiments.contests import coder, played
from tests.experiments.pages import painted
from tests.making import maker

OF_NO_CYCLE = ("pool", "plan", "ending")


@maker
def play(scripted, alice, /, *answers, setters="in_turn", cycles=1, health_check=False, **config):
    """A contest played to its end by models that say what a test has written down; the first sets the problem."""
    said = [*answers, *[{}] * (3 - len(answers))]
    models = [scripted.model(f"lab/coder-{number}", coder(**one)) for number, one in enumerate(said, 1)]
    return played(alice, models, cycles=cycles, setters=setters, health_check=health_check, **config)


def squeezed(element):
    """The words of an element without spaces: code in its colours is many elements, too."""
    return "".join(element.text.split())


def assert_same_page(run, *kinds):
    """The whole contest, and the page, which shows its latest cycle and what belongs to none."""
    painted.assert_same_page(run, *kinds)
    run = Run.objects.get(pk=run.pk)
    latest = max((cycle.turn for cycle in run.cycles.all()), default=0)
    events = timeline.replayed(run.events.order_by("seq"))
    shown = [one for one in events if slot_of(one.type, one.data) in OF_NO_CYCLE or one.data.get("turn") == latest]
    assert painted.painted(run, run_page.entries(run)) == painted.painted(run, shown)


def assert_every_fragment_finds_its_place(run):
    painted.assert_every_fragment_finds_its_place(run, "slot-pool", "slot-plan", "slot-aside", "slot-ending")
