"""What tests of pages do with runs: drive them, answer at their pauses, and read where they stand."""

import threading

import pytest
from django.urls import reverse

from experiments.engine.driver import Driver
from experiments.models import Run
from experiments.runs import actions
from experiments.runs.steering import steering
from tests.making import maker

JSON = {"headers": {"Accept": "application/json"}}
BROKEN = "sim/neutral:first=0:fail=401"
ANSWER = "Short waves scatter more.\n\n```python\nreturn 1 / wavelength**4\n```"
REVIEW = """Response A is exact, Response B is short; no Response Analysis was made. `Response A` is code.

> Response A said so

FINAL RANKING:
1. Response A
2. Response B
"""


def drive():
    Driver(threading.Event()).drive(0.1)


@maker
def hold(debate, begun, alice, /, *words, **config):
    """Plays a debate through these words: each a pause's action, or an action and its text."""
    run = begun(debate(**config))
    for word in words:
        say(run, alice, *([word] if isinstance(word, str) else word))
    return Run.objects.get(pk=run.pk)


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
    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": action, "text": text})
    drive()


def retry_buttons(page):
    return [element.get("value") for element in page.find("button") if element.get("name") == "retry"]


@pytest.fixture
def sit(council, begun):
    return lambda *members, **config: begun(council(*members, **config))


@maker
def scripted_sit(scripted, alice, begun, /, *members, chair="They agree. Member 1 is right.", **config):
    """Each member has an answer and a review, word for word; the chair concludes."""
    models = [scripted.model(f"lab/model-{number}", *said) for number, said in enumerate(members, 1)]
    cast = {f"member-{number}": {"model": model} for number, model in enumerate(models, 1)}
    cast["chair"] = {"model": scripted.model("lab/chair", chair)}
    asked = {"question": "Why is the sky blue?", "title": False, **config}
    return begun(actions.create(owner=alice, workflow="council", config=asked, cast=cast))


@maker
def press(browser, /, run, is_driven=True, **words):
    offers = Run.objects.get(pk=run.pk).open_offers
    key = offers[-1].key if offers else ""
    response = browser.post(reverse("run-ask", args=[run.pk]), {"key": key, **words})
    if is_driven:
        drive()
    return response
