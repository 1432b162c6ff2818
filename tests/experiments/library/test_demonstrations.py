"""A demonstration is a run that somebody wrote: marked, free, made once, and without any model being asked."""

import pytest
from django.db import IntegrityError
from django.urls import reverse

from experiments.library import demonstrations
from experiments.library.builtin import builtin_scenarios
from experiments.models import IdempotentRequest, ProviderModel, Run
from experiments.runs import metrics
from experiments.runs.statistics.rows import repeats
from tests.rivals import at_once

SLUG = "resource-negotiation"


@pytest.fixture
def scenario():
    return builtin_scenarios()[SLUG]


def test_the_first_click_makes_a_marked_run_and_each_opens_it(browser, bobs, alice, nobody_is_woken, read):
    address = reverse("scenario-demonstration", args=[SLUG])
    addresses = {browser.post(address)["Location"] for _ in range(2)}
    run = Run.objects.get()

    assert addresses == {run.get_absolute_url()}
    assert (run.origin, run.state, run.stop_reason) == (Run.Origin.DEMONSTRATION, Run.State.COMPLETED, "max_turns")
    assert run.experiment.owner == alice
    assert run.messages.count() == run.judgments.count() == 6
    assert nobody_is_woken == []
    assert not ProviderModel.objects.filter(label__startswith="Demonstration", is_active=True).exists()
    assert "Demonstration model A" in read(browser.get(run.get_absolute_url())).text
    assert bobs.post(address)["Location"] not in addresses, "everybody has one of their own"


def test_a_new_version_is_a_run_of_its_own_and_a_deleted_run_is_made_again(alice, scenario):
    newer = type(scenario)(**{name: getattr(scenario, name) for name in scenario.__slots__} | {"version": 2})

    first, _ = demonstrations.replay_demonstration(scenario, by=alice)
    second, is_new = demonstrations.replay_demonstration(newer, by=alice)
    assert is_new
    assert first != second

    first.messages.all().delete()
    first.experiment.delete()
    again, is_new = demonstrations.replay_demonstration(scenario, by=alice)
    assert is_new
    assert set(Run.objects.all()) == {second, again}


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_many_clicks_at_once_one_makes_the_run(alice, scenario):
    answers = at_once(*[lambda: demonstrations.replay_demonstration(scenario, by=alice)] * 4)

    assert {run for run, _is_new in answers} == {Run.objects.get()}
    assert sum(is_new for _run, is_new in answers) == 1


def test_an_error_that_is_no_rival_is_not_hidden(alice, scenario, monkeypatch):
    def fail(*_arguments, **_options):
        raise IntegrityError("of another kind")

    monkeypatch.setattr(demonstrations, "import_document", fail)

    with pytest.raises(IntegrityError):
        demonstrations.replay_demonstration(scenario, by=alice)
    assert not IdempotentRequest.objects.exists()


def test_its_models_cannot_be_chosen_and_its_missing_scores_stay_missing_and_count_nowhere(alice, scenario):
    run, _ = demonstrations.replay_demonstration(scenario, by=alice)

    models = ProviderModel.objects.filter(slug__startswith="demonstration/")
    assert models.count() == 4
    assert not ProviderModel.objects.available().filter(pk__in=models).exists()
    assert all(model.provider.is_simulated for model in models)
    last = metrics.run_metrics(run, ["A", "B"])["B"].turns[-1]
    assert (last.goal_deviation, last.sentiment["fear"]) == (None, None)
    assert last.unscored_reason == "The judge gave no scores for Model B."
    found = repeats(run.experiment, reader=alice)
    assert found.counted == ()
    assert [(left.run, left.reason) for left in found.left_out] == [(run, "demonstration")]


def test_the_api_makes_it_once_answers_it_again_and_knows_no_cost(api, well):
    first, second = api.post(f"scenarios/{SLUG}/demonstration/"), api.post(f"scenarios/{SLUG}/demonstration/")
    calls = api.get(f"runs/{first.json()['id']}/calls/").json()["results"]

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert first.json()["cost"] is None
    assert {(call["purpose"], call["cost"]) for call in calls} == {("reply", None)}
    assert all("no model was asked" in call["warnings"][0] for call in calls)
    assert api.post(f"scenarios/{well.pk}/demonstration/").status_code == 409, "one of one's own has none"
