"""Setting up a debate: only what is to be debated is missing; what was typed is kept; earlier debates are found."""

import pytest

from experiments.models import Experiment
from tests.fixtures import add_model

ADDRESS = "/debate/"
PROMPT = "How <b>should</b> we share\none telescope?"


@pytest.fixture
def models(provider):
    return [add_model(f"sim/{name}:first=0") for name in ("cooperative", "competitive", "neutral", "deceptive")]


@pytest.fixture
def filled(browser, models, read):
    """What a browser would send if only the request were typed."""
    return {**read(browser.get(ADDRESS)).form(id="setup"), "prompt": PROMPT}


def test_every_field_that_is_filled_in_is_heard(send, browser, read, models, settings):
    changed = {"title": "Telescope", "mode": "automatic", "rounds": "2", "addendum": "Cheap.", "blind": "on"}
    changed |= {"rotate": "on", "limits-tokens": "9000", "limits-seconds": "60.0", "limits-cost": "0.5"}
    page = read(browser.get(ADDRESS))
    assert f"a debater to {settings.ROLE_TOKENS['debater']:,}" in page.text, "how long an answer may be"
    assert not [name for name in page.form(id="setup") if "max_tokens" in name]
    pool = {"seat-pool-2-model": models[3].slug, "seat-pool-5-model": models[0].slug, "seat-A-max_tokens": "99999"}
    send(**changed, **pool, refine=None)
    first = Experiment.objects.get()
    assert first.config["limits"] == {"tokens": 9000, "seconds": 60.0, "cost": 0.5}
    assert (first.config["refine"], first.config["rotate"], first.config["rounds"]) == (False, True, 2)
    seated = {one.seat: one.model.slug for one in first.participants.all()}
    assert "refiner" not in seated
    assert first.participants.get(seat="A").params == {}, "and cannot be sent"
    assert (seated["pool-1"], seated["pool-2"]) == (models[3].slug, models[0].slug), "from the first place on"
