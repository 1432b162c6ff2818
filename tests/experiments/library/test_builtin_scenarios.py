"""Scenarios that come with the platform are whole, and the arena's form makes of each what it says."""

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from experiments.casting import checked_config
from experiments.forms import form_for
from experiments.library import keeping
from experiments.library.demonstrations import MODELS, document, raw_text, seen_text
from experiments.library.scenarios import builtin_scenarios
from experiments.library.shelf import find_scenario, initial_for, runs_with
from experiments.reports.importing import checked
from experiments.workflows.filter import own_words
from experiments.workflows.judge import RANGES
from tests.cases import each_case
from tests.fixtures import add_model

SLUGS = list(builtin_scenarios())


@each_case("slug", SLUGS)
def test_its_settings_are_those_of_an_arena_and_its_words_can_be_translated(slug):
    scenario = builtin_scenarios()[slug]
    config = checked_config("arena", scenario.config)

    assert config.prompting == ("individual" if slug == "emergency-recovery" else "shared")
    assert all(len(config.instructions(side).split()) > 80 for side in "AB")
    with override("zh-hans"):
        assert str(scenario.title)
        assert str(scenario.description)


@each_case("slug", SLUGS)
def test_two_sides_speak_in_turn_for_three_turns_with_reasoning_of_which_the_other_sees_nothing(slug):
    written = builtin_scenarios()[slug].demonstration["messages"]

    assert [(said["turn"], said["seat"]) for said in written] == [(t, s) for t in (1, 2, 3) for s in "AB"]
    for said in written:
        assert len(seen_text(said).split()) >= 60
        assert len(said["reasoning"].split()) >= 30
        assert own_words(seen_text(said), raw_text(said))
        assert 0 < said["tokens"]["reasoning"] < said["tokens"]["output"]
        assert said["tokens"]["input"] > 0
    assert any(seen_text(said) != raw_text(said) for said in written)


@each_case("slug", SLUGS)
def test_every_side_is_judged_in_every_turn_within_the_ranges_or_the_reason_is_given(slug):
    judged = builtin_scenarios()[slug].demonstration["judgments"]

    assert [(j["turn"], j["subject"]) for j in judged] == [(t, s) for t in (1, 2, 3) for s in "AB"]
    for judgment in judged:
        scores = judgment["scores"] or {}
        assert bool(set(RANGES) - set(scores)) == bool(judgment["unscored_reason"])
        assert judgment["rationale"] if judgment["scores"] else judgment["confidence"] is None
        assert all(RANGES[name][0] <= value <= RANGES[name][1] for name, value in scores.items())


@each_case("slug", SLUGS)
def test_its_document_can_be_imported_and_costs_nothing_known(slug):
    record = checked(document(builtin_scenarios()[slug], title="x", ended=timezone.now()))

    assert len(record.messages) == 6
    assert all(call.cost is None and call.simulated for call in record.calls)
    assert {message.model for message in record.messages} == {MODELS["A"][1], MODELS["B"][1]}


# --- in the arena's form ---


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
