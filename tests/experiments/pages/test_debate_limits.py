"""A debate that a limit has stopped goes on from its page."""

import pytest

from experiments import actions
from experiments.models import Run
from tests.experiments.pages.held import drive, pause_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def limited(hold):
    """Stopped by its limit between A and B."""
    run = hold("send", limits={"tokens": 1000}, refine=False)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert set(run.messages.values_list("seat", flat=True)) == {"person", "A"}
    return run


def test_a_debate_that_a_limit_has_stopped_goes_on_under_another(limited, page_of, browser):
    page = page_of(limited)
    assert "A limit has stopped the debate" in page.by_id("lift-place").text
    assert page.by_id("lift-tokens").get("value") == "1000"

    response = browser.post(f"/runs/{limited.pk}/lift/", {"tokens": "90000", "action": "lift"})
    drive()

    assert response.status_code == 302
    assert pause_of(limited).purpose == "after_round"
    assert limited.messages.filter(seat__in="ABC").count() == 3
    assert not page_of(limited).by_id("lift-place").text


def test_a_debate_that_a_limit_has_stopped_goes_on_without_the_answer(limited, page_of, browser):
    browser.post(f"/runs/{limited.pk}/lift/", {"tokens": "90000", "action": "skip"})
    drive()

    assert "was not asked: a limit was reached" in page_of(limited).by_id("slot-round-1").text


@pytest.mark.parametrize("given", [{"tokens": "-1"}, {"cost": "much"}, {"seconds": "0"}])
def test_limits_that_make_no_sense_change_nothing(limited, browser, read, given):
    response = browser.post(f"/runs/{limited.pk}/lift/", given, follow=True)

    assert "no limits that a run could have" in read(response).text
    assert Run.objects.get(pk=limited.pk).state == Run.State.STOPPED


def test_a_debate_that_no_limit_has_stopped_is_not_lifted(hold, browser, alice, read, page_of):
    run = hold()
    actions.stop(run, by=alice)
    assert not page_of(run).by_id("lift-place").text

    response = browser.post(f"/runs/{run.pk}/lift/", {"tokens": "9000"}, follow=True)

    assert "No limit has stopped this run." in read(response).text
