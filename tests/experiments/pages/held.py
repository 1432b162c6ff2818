"""A debate that was played up to some pause, and its page."""

import pytest

from experiments.models import Run
from experiments.steering import steering
from tests.experiments.pages.driving import drive

JSON = {"headers": {"Accept": "application/json"}}


@pytest.fixture
def hold(debate, begun, alice):
    """Plays a debate through these words: each a pause's action, or an action and its text."""

    def play(*words, **config):
        run = begun(debate(**config))
        for word in words:
            say(run, alice, *([word] if isinstance(word, str) else word))
        return Run.objects.get(pk=run.pk)

    return play


def pause_of(run):
    run = Run.objects.get(pk=run.pk)
    return [*run.open_pauses, *run.open_offers][-1]


def say(run, by, action, text=""):
    steering.say(run, by=by, key=pause_of(run).key, action=action, text=text)
    drive()


@pytest.fixture
def page_of(browser, read):
    return lambda run: read(browser.get(f"/runs/{run.pk}/"))


def steps(page):
    """The steps of the way with their states."""
    [path] = page.find("nav", id="path")
    return {
        next(inner.text for inner in item.iter() if (inner.get("class") or "") == "path-label"): (
            (item.get("class") or "").split()[0].removeprefix("path-")
        )
        for item in path.findall(".//li")
    }


def keep(browser, run, text, key=""):
    return browser.post(f"/runs/{run.pk}/draft/", {"key": key or pause_of(run).key, "text": text})


def send(browser, run, action, text=""):
    """What a browser without scripts sends at the open pause; then the run is driven."""
    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": action, "text": text})
    drive()
