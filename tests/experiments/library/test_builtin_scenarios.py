"""Scenarios and demonstrations that come with the platform are whole, and forms make of each what it says."""

import pytest
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone

from accounts.errors import NotFound
from experiments.library import demonstrations, scenarios
from experiments.library.builtin import builtin_scenarios
from experiments.library.demonstrations import MODELS, document, raw_text, seen_text
from experiments.library.scenarios import find_scenario, runs_with
from experiments.models import Experiment, IdempotentRequest, ProviderModel, Run
from experiments.runs import metrics
from experiments.runs.reports.importing import checked
from experiments.runs.statistics.rows import repeats
from experiments.setup.casting import checked_config
from experiments.workflows.base.filter import own_words
from experiments.workflows.base.judge import RANGES
from tests.fixtures import add_model
from tests.rivals import at_once

SLUG = "resource-negotiation"
SCENARIO = builtin_scenarios()[SLUG]


def test_its_settings_are_those_of_an_arena_and_its_demonstration_is_an_importable_record():
    for slug, scenario in builtin_scenarios().items():
        record = checked(document(scenario, title="x", ended=timezone.now()))

        assert all(checked_config("arena", scenario.config).instructions(side) for side in "AB"), slug
        assert {message.model for message in record.messages} == {MODELS["A"][1], MODELS["B"][1]}, slug
        assert all(call.cost is None and call.simulated for call in record.calls), slug
        for said in scenario.demonstration["messages"]:
            assert own_words(seen_text(said), raw_text(said)), "as of any filter"
        for judgment in scenario.demonstration["judgments"]:
            scores = judgment["scores"] or {}
            assert bool(set(RANGES) - set(scores)) == bool(judgment["unscored_reason"]), slug
            assert all(RANGES[name][0] <= value <= RANGES[name][1] for name, value in scores.items()), slug


def test_ones_own_survives_the_form(alice, browser, provider, read, woken_runs):
    models = {f"seat-{seat}-model": add_model("sim/x").slug for seat in "AB"}
    for changes in (
        {"max_turns": None},
        {"prompting": "individual", "prompts": {"A": "x", "B": "y"}, "prompt": ""},
        {"limits": {"tokens": 5, "seconds": 1.5, "cost": 0.25}, "gap_seconds": 0, "first": "B", "filter": False},
        {"interventions": [{"kind": "note", "side": "A", "turn": 1, "text": "Be firm."}]},
    ):
        saved = scenarios.save_scenario(owner=alice, title="x", config={"prompt": "Talk.", **changes})
        sent = read(browser.get(reverse("arena"), {"scenario": saved.pk})).form(id="setup")
        browser.post(reverse("arena"), {**sent, **models})
        made = Experiment.objects.latest("created")
        assert made.config == checked_config("arena", saved.config).model_dump(mode="json"), changes


def test_runs_of_the_same_words_are_known_and_pages_lead_on(browser, bobs, alice, bob, arena, start, well, read):
    same, other = start(arena(prompt=well.config["prompt"])), start(arena(prompt="Something else."))

    assert list(runs_with(find_scenario(alice, str(well.pk)), alice)) == [same]
    page = read(browser.get(reverse("scenario", args=[well.pk])))
    assert page.find("a", href=same.get_absolute_url())
    assert not page.find("a", href=other.get_absolute_url())

    scenarios.share_scenario(well, by=alice)
    assert list(runs_with(find_scenario(bob, str(well.pk)), bob)) == []
    for ref in ("", "nonsense", "custom", "00000000-0000-7000-8000-000000000000", "x" * 300):
        with pytest.raises(NotFound):
            find_scenario(alice, ref)

    by_prompting = {str(builtin.config.get("prompting")): ref for ref, builtin in builtin_scenarios().items()}
    assert "individual" in by_prompting
    for ref in by_prompting.values():
        run, _ = demonstrations.replay_demonstration(find_scenario(alice, ref).builtin, by=alice)
        assert list(runs_with(find_scenario(alice, ref), alice)) == [run]
        page = read(browser.get(reverse("scenario", args=[ref])))
        assert page.find("a", href=run.get_absolute_url())
        assert page.find("a", href=f"{reverse('arena')}?scenario={ref}")


def test_the_first_click_makes_a_marked_run_and_each_opens_it(browser, bobs, api, alice, nobody_is_woken, read, well):
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

    again, other = (api.post(f"scenarios/{slug}/demonstration/") for slug in (SLUG, "bidding-war"))
    assert (again.status_code, again.json()["id"], again.json()["cost"]) == (200, str(run.pk), None)
    assert other.status_code == 201
    calls = api.get(f"runs/{run.pk}/calls/").json()["results"]
    assert {(call["purpose"], call["cost"]) for call in calls} == {("reply", None)}
    assert all("no model was asked" in call["warnings"][0] for call in calls)
    assert api.post(f"scenarios/{well.pk}/demonstration/").status_code == 409, "one of one's own has none"
    assert bobs.post(address)["Location"] not in addresses, "everybody has one of their own"


def test_a_new_version_is_a_run_of_its_own_and_a_deleted_or_failed_one_is_made_again(alice, monkeypatch):
    newer = type(SCENARIO)(**{name: getattr(SCENARIO, name) for name in SCENARIO.__slots__} | {"version": 2})

    def fail(*_arguments, **_options):
        raise IntegrityError("of another kind")

    with monkeypatch.context() as broken:
        broken.setattr(demonstrations, "import_document", fail)
        with pytest.raises(IntegrityError):  # an error that is no rival is not hidden
            demonstrations.replay_demonstration(SCENARIO, by=alice)
    assert not IdempotentRequest.objects.exists()
    first, _ = demonstrations.replay_demonstration(SCENARIO, by=alice)
    second, is_new = demonstrations.replay_demonstration(newer, by=alice)
    assert is_new
    assert first != second

    first.messages.all().delete()
    first.experiment.delete()
    again, is_new = demonstrations.replay_demonstration(SCENARIO, by=alice)
    assert is_new
    assert set(Run.objects.all()) == {second, again}


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_many_clicks_at_once_one_makes_the_run(alice):
    answers = at_once(*[lambda: demonstrations.replay_demonstration(SCENARIO, by=alice)] * 4)

    assert {run for run, _is_new in answers} == {Run.objects.get()}
    assert sum(is_new for _run, is_new in answers) == 1


def test_its_models_cannot_be_chosen_and_its_missing_scores_stay_missing_and_count_nowhere(alice):
    run, _ = demonstrations.replay_demonstration(SCENARIO, by=alice)

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
