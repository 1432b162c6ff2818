"""What comes with the platform: three scenarios, whole, playable and told with open gaps."""

import pytest
from django.utils import timezone
from django.utils.translation import override

from experiments.casting import checked_config
from experiments.library.demonstrations import MODELS, document, raw_text, seen_text
from experiments.library.scenarios import FILES, builtin_scenarios
from experiments.models import Scenario
from experiments.reports.importing import checked
from experiments.workflows.filter import own_words
from experiments.workflows.judge import RANGES, SENTIMENTS

SLUGS = ["resource-negotiation", "emergency-recovery", "bidding-war"]
pytestmark = pytest.mark.parametrize("slug", SLUGS)


@pytest.fixture
def scenario(slug):
    return builtin_scenarios()[slug]


@pytest.fixture
def written(scenario):
    return scenario.demonstration["messages"]


def test_there_are_three_and_each_has_its_file(slug):
    assert list(builtin_scenarios()) == SLUGS
    assert {path.stem for path in FILES.iterdir()} == set(SLUGS)


def test_each_is_of_another_kind(slug):
    kinds = {slug: scenario.kind for slug, scenario in builtin_scenarios().items()}

    assert kinds == dict(zip(SLUGS, ["mixed", "cooperation", "competition"], strict=True))
    assert set(kinds.values()) == set(Scenario.Kind.values)


def test_its_settings_are_those_of_an_arena(scenario):
    config = checked_config("arena", scenario.config)

    assert config.prompting == ("individual" if scenario.slug == "emergency-recovery" else "shared")
    assert all(len(config.instructions(side).split()) > 80 for side in "AB")


def test_its_words_can_be_translated(scenario):
    with override("zh-hans"):
        assert str(scenario.title)
        assert str(scenario.description)


def test_two_sides_speak_in_turn_for_three_turns(written):
    assert [(said["turn"], said["seat"]) for said in written] == [(t, s) for t in (1, 2, 3) for s in "AB"]


def test_every_message_is_worth_reading_and_has_its_reasoning(written):
    for said in written:
        assert len(seen_text(said).split()) >= 60
        assert len(said["reasoning"].split()) >= 30


def test_the_other_side_sees_the_speakers_own_words_alone(written):
    assert all(own_words(seen_text(said), raw_text(said)) for said in written)
    assert any(seen_text(said) != raw_text(said) for said in written)


def test_tokens_are_written_and_the_reasoning_is_part_of_them(written):
    for said in written:
        assert 0 < said["tokens"]["reasoning"] < said["tokens"]["output"]
        assert said["tokens"]["input"] > 0


def test_every_side_is_judged_in_every_turn_or_the_reason_is_given(scenario):
    judged = scenario.demonstration["judgments"]

    assert [(j["turn"], j["subject"]) for j in judged] == [(t, s) for t in (1, 2, 3) for s in "AB"]
    for judgment in judged:
        missing = set(RANGES) - set(judgment["scores"] or {})
        assert bool(missing) == bool(judgment["unscored_reason"])
        assert judgment["rationale"] if judgment["scores"] else judgment["confidence"] is None


def test_given_scores_are_within_their_ranges(scenario):
    for judgment in scenario.demonstration["judgments"]:
        for name, value in (judgment["scores"] or {}).items():
            low, high = RANGES[name]
            assert low <= value <= high
    assert set(SENTIMENTS) <= set(RANGES)


def test_its_document_can_be_imported_and_costs_nothing_known(scenario):
    made = document(scenario, title="x", ended=timezone.now())
    record = checked(made)

    assert len(record.messages) == 6
    assert all(call.cost is None and call.simulated for call in record.calls)
    assert {message.model for message in record.messages} == {MODELS["A"][1], MODELS["B"][1]}
