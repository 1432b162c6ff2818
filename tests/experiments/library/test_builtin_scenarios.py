"""What comes with the platform: three scenarios, whole, playable and told with open gaps."""

from django.utils import timezone
from django.utils.translation import override

from experiments.casting import checked_config
from experiments.library.demonstrations import MODELS, document, raw_text, seen_text
from experiments.library.scenarios import FILES, builtin_scenarios
from experiments.models import Scenario
from experiments.reports.importing import checked
from experiments.workflows.filter import own_words
from experiments.workflows.judge import RANGES
from tests.cases import each_case

SLUGS = ["resource-negotiation", "emergency-recovery", "bidding-war"]


def test_there_are_three_of_each_kind_with_a_file_each():
    assert list(builtin_scenarios()) == SLUGS
    assert {path.stem for path in FILES.iterdir()} == set(SLUGS)
    assert [scenario.kind for scenario in builtin_scenarios().values()] == ["mixed", "cooperation", "competition"]
    assert set(Scenario.Kind.values) == {"mixed", "cooperation", "competition"}


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
