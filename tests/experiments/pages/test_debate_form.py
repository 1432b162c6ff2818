"""Setting up a debate: only what is to be debated is missing; what was typed is kept; earlier debates are found."""

import pytest
from django.urls import reverse

from experiments.models import Experiment, Run
from tests.cases import each_case
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


def test_the_form_as_it_is_shown_needs_only_the_request(send, alice, nobody_is_woken):
    response = send()

    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, reverse("run", args=[run.pk]))
    assert nobody_is_woken == [run.pk]
    assert (run.experiment.owner, run.experiment.workflow, run.mode) == (alice, "debate", "manual")
    config = run.experiment.config
    assert (config["prompt"], config["refine"], config["rounds"]) == (PROMPT, True, 1)
    assert (config["blind"], config["rotate"], config["addendum"]) == (False, False, "")
    seated = {one.seat: one.model_id for one in run.experiment.participants.all()}
    assert set(seated) == {"A", "B", "C", "refiner", "summarizer"}
    assert len({seated[seat] for seat in "ABC"}) == 3
    assert seated["summarizer"] not in {seated[seat] for seat in "ABC"}


def test_how_long_an_answer_may_be_is_said_and_cannot_be_sent(send, browser, read, settings):
    page = read(browser.get(ADDRESS))
    assert f"a debater to {settings.ROLE_TOKENS['debater']:,}" in page.text
    assert not [name for name in page.form(id="setup") if "max_tokens" in name]

    send(**{"seat-A-max_tokens": "99999"})

    assert Experiment.objects.get().participants.get(seat="A").params == {}


@each_case(
    ("changes", "said"),
    [({}, "5 calls"), ({"mode": "automatic", "rounds": "2"}, "8 calls"), ({"refine": None}, "4 calls")],
)
def test_the_estimate_follows_the_form(browser, filled, changes, said):
    sent = {name: value for name, value in {**filled, **changes}.items() if value is not None}

    assert said in browser.post("/debate/estimate/", sent).content.decode()


def test_every_field_that_is_filled_in_is_heard_and_a_debate_is_set_up_again_as_it_was(send, browser, read, models):
    changed = {"title": "Telescope", "mode": "automatic", "rounds": "2", "addendum": "Cheap.", "blind": "on"}
    changed |= {"rotate": "on", "limits-tokens": "9000", "limits-seconds": "60.0", "limits-cost": "0.5"}
    pool = {"seat-pool-2-model": models[3].slug, "seat-pool-5-model": models[0].slug}
    send(**changed, **pool, refine=None)
    first = Experiment.objects.get()
    assert first.config["limits"] == {"tokens": 9000, "seconds": 60.0, "cost": 0.5}
    assert (first.config["refine"], first.config["rotate"], first.config["rounds"]) == (False, True, 2)
    seated = {one.seat: one.model.slug for one in first.participants.all()}
    assert "refiner" not in seated
    assert (seated["pool-1"], seated["pool-2"]) == (models[3].slug, models[0].slug), "from the first place on"

    again = read(browser.get(f"{ADDRESS}?clone={Run.objects.get().pk}")).form(id="setup")
    assert {name: again[name] for name in (*changed, "prompt")} == {**changed, "prompt": PROMPT}
    browser.post(ADDRESS, again)
    second = Experiment.objects.exclude(pk=first.pk).get()
    assert second.config == first.config
    assert {one.seat: one.model.slug for one in second.participants.all()} == seated

    gone = second.participants.get(seat="B").model
    type(gone).objects.filter(pk=gone.pk).update(is_active=False)
    assert f"Not available: {gone.slug}" in read(browser.get(f"{ADDRESS}?clone={Run.objects.first().pk}")).text
