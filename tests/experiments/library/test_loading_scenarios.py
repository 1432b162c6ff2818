"""A scenario fills the arena's set-up form, and the form makes of it what the scenario says."""

import pytest
from django.urls import reverse

from experiments.casting import checked_config
from experiments.forms import form_for
from experiments.library import keeping
from experiments.library.shelf import find_scenario, initial_for, runs_with
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

REFS = ["resource-negotiation", "emergency-recovery", "bidding-war"]


@each_case("ref", REFS)
def test_a_built_in_scenario_survives_the_form(alice, provider, ref):
    scenario = find_scenario(alice, ref)

    assert through_the_form(initial_for(scenario)) == checked_config("arena", scenario.config)


@each_case(
    "changes",
    [
        {"max_turns": None},
        {"prompting": "individual", "prompts": {"A": "x", "B": "y"}, "prompt": ""},
        {"limits": {"tokens": 5, "seconds": 1.5, "cost": 0.25}, "gap_seconds": 0, "first": "B", "filter": False},
        {"interventions": [{"kind": "note", "side": "A", "turn": 1, "text": "Be firm."}]},
    ],
)
def test_ones_own_survives_the_form(alice, provider, changes):
    saved = keeping.save_scenario(owner=alice, title="x", config={"prompt": "Talk.", **changes})

    assert through_the_form(initial_for(find_scenario(alice, str(saved.pk)))) == checked_config("arena", saved.config)


def test_names_are_those_of_the_form(alice):
    initial = initial_for(find_scenario(alice, "emergency-recovery"))

    assert initial["prompting"] == "individual"
    assert initial["prompts-A"].startswith("You are Alpha")
    assert initial["max_turns-none"] is False
    assert set(initial) <= set(form_for("arena").base_fields)


def test_pages_lead_to_the_form(browser, well, read):
    for ref in (*REFS, str(well.pk)):
        page = read(browser.get(reverse("scenario", args=[ref])))
        assert page.find("a", href=f"{reverse('arena')}?scenario={ref}")


@each_case("ref", ["", "nonsense", "custom", "00000000-0000-7000-8000-000000000000", "x" * 300])
def test_what_does_not_exist_is_not_found(alice, ref):
    assert find_scenario(alice, ref) is None


def test_runs_with_the_same_instructions_are_known(browser, bobs, alice, bob, arena, start, well, read):
    same, other = start(arena(prompt=well.config["prompt"])), start(arena(prompt="Something else."))

    assert list(runs_with(find_scenario(alice, str(well.pk)), alice)) == [same]
    page = read(browser.get(reverse("scenario", args=[well.pk])))
    assert page.find("a", href=same.get_absolute_url())
    assert not page.find("a", href=other.get_absolute_url())

    keeping.share_scenario(well, by=alice)
    assert list(runs_with(find_scenario(bob, str(well.pk)), bob)) == []


def test_a_demonstration_is_among_the_runs_of_its_scenario(alice, browser, read):
    for ref in REFS:
        run, _ = keeping.replay_demonstration(find_scenario(alice, ref).builtin, by=alice)
        assert list(runs_with(find_scenario(alice, ref), alice)) == [run]
        assert "demonstration" in read(browser.get(reverse("scenario", args=[ref]))).text


def through_the_form(initial):
    """What the form would send back untouched, as the workflow's Config."""
    unbound = form_for("arena")(initial={**initial, "seat-A-model": add_model("sim/x").slug})
    sent = {}
    for name in unbound.fields:
        value = unbound[name].value()
        if isinstance(value, list):
            sent |= {f"{name}-{n}-{part}": said for n, row in enumerate(value) for part, said in row.items()}
        elif value is not None and value is not False:
            sent[name] = "on" if value is True else value
    form = form_for("arena")(sent)
    form.is_valid()
    assert not set(form.errors) & set(initial), form.errors
    return checked_config("arena", form.asked()["config"])
