"""Councils as a page shows them, for the tests of their pages."""

import pytest
from django.urls import reverse

from experiments import actions
from experiments.models import Run
from tests.experiments.pages.driving import drive

BROKEN = "sim/neutral:first=0:fail=401"
ANSWER = "Short waves scatter more.\n\n```python\nreturn 1 / wavelength**4\n```"
REVIEW = """Response A is exact, Response B is short; no Response Analysis was made. `Response A` is code.

> Response A said so

FINAL RANKING:
1. Response A
2. Response B
"""


def retry_buttons(page):
    return [element.get("value") for element in page.find("button") if element.get("name") == "retry"]


@pytest.fixture
def sit(council, begun):
    """A council that has answered its first question."""
    return lambda *members, **config: begun(council(*members, **config))


@pytest.fixture
def scripted_sit(scripted, alice, begun):
    """Each member has an answer and a review, word for word; the chair concludes."""

    def sit(*members, chair="They agree. Member 1 is right.", **config):
        models = [scripted.model(f"lab/model-{number}", *said) for number, said in enumerate(members, 1)]
        cast = {f"member-{number}": {"model": model} for number, model in enumerate(models, 1)}
        cast["chair"] = {"model": scripted.model("lab/chair", chair)}
        asked = {"question": "Why is the sky blue?", "title": False, **config}
        return begun(actions.create(owner=alice, workflow="council", config=asked, cast=cast))

    return sit


@pytest.fixture
def press(browser):
    """What a browser without scripts sends when a button of the composer is pressed; then the run is driven."""

    def send(run, is_driven=True, **words):
        offers = Run.objects.get(pk=run.pk).open_offers
        key = offers[-1].key if offers else ""
        response = browser.post(reverse("run-ask", args=[run.pk]), {"key": key, **words})
        if is_driven:
            drive()
        return response

    return send
