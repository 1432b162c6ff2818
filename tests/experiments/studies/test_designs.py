"""Designs: which conditions there are, what each is played with, and in which order."""

from collections import Counter
from itertools import combinations

import pytest
from pydantic import ValidationError

from experiments.studies.design import Design, Factor, Level, planned_runs
from experiments.studies.outcomes import NOTHING_MEASURED, PARTLY_MEASURED, Value, combined


def design(levels=4, **more):
    factors = [Factor(name=f, levels=[Level(name=f"{f}{n}") for n in range(levels)]) for f in "abc"]
    return Design(workflow="arena", **{"factors": factors, **more})


def test_in_a_latin_square_levels_meet_once_and_every_repeat_is_a_block_of_all_conditions_in_its_own_order():
    conditions = list(design(arrangement="latin", seed=5).combinations())
    pairs = Counter(pair for levels in conditions for pair in combinations(sorted(levels.values()), 2))

    assert len(conditions) == 16
    assert set(pairs.values()) == {1}
    assert conditions != list(design(arrangement="latin", seed=6).combinations())

    runs = planned_runs(design(2, repeats=3, seed=1), 8)
    blocks = [[run.condition for run in runs if run.repeat == repeat] for repeat in (1, 2, 3)]

    assert [run.number for run in runs] == list(range(1, 25))
    assert [sorted(block) for block in blocks] == [list(range(1, 9))] * 3
    assert len({tuple(block) for block in blocks}) == 3
    assert len({run.seed for run in runs}) == 24
    assert planned_runs(design(2, repeats=3, seed=1), 8) == runs


def test_levels_change_settings_participants_and_words():
    level = {"config": {"max_turns": 2}, "cast": {"A": {"params": {"temperature": 0}}}, "texts": {"who": "Ines"}}
    made = Design.model_validate({
        "workflow": "arena",
        "config": {"prompt": "Talk to {who} about {WHAT}.", "max_turns": 5, "interventions": [{"text": "{who}!"}]},
        "cast": {"A": {"model": "m"}, "B": {"model": "n"}},
        "factors": [{"name": "short", "levels": [{"name": "yes", **level}, {"name": "no"}]}],
    })  # fmt: skip
    config, cast = made.condition({"short": "yes"})

    assert config == {"prompt": "Talk to Ines about {WHAT}.", "max_turns": 2, "interventions": [{"text": "Ines!"}]}
    assert cast == {"A": {"model": "m", "params": {"temperature": 0}}, "B": {"model": "n"}}
    assert made.condition({"short": "no"}) == (made.config, made.cast)


def test_a_design_without_sense_or_end_is_refused():
    for changed in (
        {"arrangement": "list", "conditions": [{"a": "a0", "b": "b0"}]},
        {"arrangement": "list", "conditions": [{"a": "a0", "b": "b0", "c": "c9"}]},
        {"levels": 8},
        {"levels": 6, "repeats": 24},
        {"factors": [Factor(name="a", levels=[Level(name="x"), Level(name="x")])]},
        {"factors": [Factor(name=n, levels=[Level(name="x")], is_prompt=True) for n in "ab"]},
        {"factors": [Factor(name="a", levels=[Level(name="x")])], "arrangement": "latin"},
    ):
        with pytest.raises(ValidationError):
            design(**changed)


def test_of_turns_that_were_not_measured_nothing_is_assumed():
    for turns, over, value in (
        ({1: 10.0, 2: None, 3: 40.0}, "mean", (25.0, False, "")),
        ({1: 10.0, 2: 40.0, 3: None}, "last", (None, False, PARTLY_MEASURED)),
        ({1: 10.0, 2: 40.0}, "most", (40.0, False, "")),
        ({1: 10.0, 2: None}, "any", (None, False, PARTLY_MEASURED)),
        ({1: 10.0, 2: 20.0}, "any", (0.0, False, "")),
        ({1: None, 2: 21.0}, "any", (1.0, False, "")),
        ({1: 10.0, 2: 21.0, 3: 50.0}, "first_turn", (2.0, True, "")),
        ({1: 10.0, 2: 20.0, 3: None}, "first_turn", (2.0, False, "")),
        ({1: None}, "first_turn", (None, False, NOTHING_MEASURED)),
        ({}, "any", (None, False, NOTHING_MEASURED)),
    ):
        assert combined(turns, over, threshold=20.0) == Value(*value), (turns, over)
