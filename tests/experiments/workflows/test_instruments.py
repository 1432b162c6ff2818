"""Instruments: replies of judges as they were given and never made up, and the same questions for people."""

import json

import pytest
from pydantic import ValidationError

from experiments.workflows.base.instruments import Citation, Definition, answer_of, read_reply, reply_schema, rubric_of
from experiments.workflows.base.steps import Outcome

QUOTATION = {"quotations": [{"message": 3, "quote": "I take all."}]}
LEVELS = [{"name": "none", "title": "None"}, {"name": "some", "title": "Some"}]
DIMENSIONS = {
    "steps": {"kind": "scale", "title": "Steps", "low": 0, "high": 4, "anchors": {"0": "none", "4": "all"}},
    "share": {"kind": "scale", "title": "Share", "low": 0, "high": 1, "step": 0.25, "is_continuous": True},
    "level": {"kind": "categories", "title": "Level", "choices": LEVELS, "ordered": True, "description": "How much."},
    "signs": {"kind": "categories", "title": "Signs", "choices": LEVELS, "multiple": True},
    "lies": {"kind": "yes_no", "title": "Lies", "needs_quotation": True},
    "threats": {"kind": "count", "title": "Threats", "most": 5},
    "words": {"kind": "quotation", "title": "Words"},
}
GOOD = {"steps": 2, "share": 0.37, "level": "some", "signs": ["some"], "threats": 7}
GOOD |= {"lies": {"value": True, **QUOTATION}, "words": QUOTATION}


def defined(**changes):
    dimensions = [{"name": name, **one} for name, one in DIMENSIONS.items()]
    return Definition.model_validate({"dimensions": dimensions, **changes})


def reply(**changes):
    return json.dumps({"notes": "It asks for all.", **GOOD, "confidence": 0.8, **changes})


def read(text, **definition):
    [one] = read_reply(defined(**definition), (), Outcome(text=text))
    return {measured.dimension: measured for measured in one.measured}, one


ODD = ("rather high", "0.37", 1e300, float("nan"), -1, None, {"value": {"value": 1}, "quotations": 5})
GARBAGE = (
    *("All of it has its merits.", "", reply()[:40], "{steps: quite high, 'share' = [the first one;;", "[" * 9000, "1"),
    *(json.dumps([0.37, 1, True]), json.dumps({"score": 1, "verdict": True}), f"{reply()}\n\n{reply(steps=1)}"),
    *(json.dumps(dict.fromkeys(DIMENSIONS, odd)) for odd in ODD),
)


def test_garbage_gives_no_value_of_any_kind_and_a_reason_for_each():
    for garbage in GARBAGE:
        measured, one = read(garbage)

        assert set(measured) == set(DIMENSIONS), garbage
        for name, found in measured.items():
            assert (found.value, found.citations, found.needs_citation) == (None, (), False), name
            assert len(found.unscored_reason.split()) > 2, name
        assert one.confidence is None


def test_every_kind_of_value_is_read_with_its_quotations_and_a_bad_one_costs_that_value_alone():
    measured, one = read(f"Certainly!\n```json\n{reply()}\n```")

    given = {**GOOD, "lies": True, "words": ["I take all."]}
    assert {name: found.value for name, found in measured.items()} == given
    cited = (Citation(3, "I take all."),)
    assert (measured["lies"].citations, measured["lies"].needs_citation) == (cited, True)
    assert (measured["words"].citations, measured["words"].needs_citation) == (cited, True)
    assert (one.notes, one.confidence) == ("It asks for all.", 0.8)
    assert read(reply(lies=True))[0]["lies"].needs_citation
    assert not read(reply(lies={"value": False, "quotations": []}))[0]["lies"].needs_citation, "nothing was found"
    assert not read(reply(words={"quotations": []}))[0]["words"].needs_citation
    [failed] = read_reply(defined(), (), Outcome(ok=False, text=reply(), error_kind="late", error="It took too long."))
    assert {(found.value, found.unscored_reason) for found in failed.measured} == {(None, "It took too long.")}

    for name, given, value, reason in (
        ("steps", 2.5, None, "The judge's value is 2.5, between two values of the scale."),
        ("share", 1.01, None, "The judge's value is 1.01, outside 0 to 1."),
        ("steps", True, None, "The judge's value is not a number."),
        ("level", "A lot", None, "The judge's value is none of the categories."),
        ("level", " SOME ", "some", ""),
        ("signs", [], [], ""),
        ("signs", ["some", "else"], None, "The judge's value is none of the categories."),
        ("lies", "No", False, ""),
        ("lies", 1, None, "The judge's value is neither yes nor no."),
        ("threats", 1.5, None, "The judge's value is 1.5, which is not a whole number."),
        ("threats", 0, 0, ""),
        ("words", {"quotations": []}, [], ""),
        ("words", {"quotations": [7]}, None, "The judge's value is not a list of quotations."),
    ):
        measured, _one = read(reply(**{name: given}))

        assert (measured[name].value, measured[name].unscored_reason) == (value, reason)
        assert type(measured[name].value) is type(value)
        others = [found for dimension, found in measured.items() if dimension != name]
        assert all(found.value is not None and found.unscored_reason == "" for found in others)


def test_each_speaker_is_measured_alone_and_one_who_is_left_out_is_absent_with_the_reason():
    definition = defined(unit="turn", each_speaker=True)
    text = json.dumps({"A": json.loads(reply()), "C": json.loads(reply())})
    first, second = read_reply(definition, ("A", "B"), Outcome(text=text))

    assert (first.subject, first.measured[0].value) == ("A", 2.0)
    assert second.subject == "B"
    assert {one.unscored_reason for one in second.measured} == {"The judge gave no values for it."}
    assert set(reply_schema(definition, ("A", "B"))["required"]) == {"A", "B"}


def test_people_are_asked_the_same_and_their_answers_can_be_compared():
    definition = defined()
    rubric = rubric_of(definition)
    asked = {one.name: one for one in (*rubric.scales, *rubric.labels)}

    assert set(asked) == set(DIMENSIONS)
    level = asked["level"]
    assert (level.ordered, level.description, level.names) == (True, "How much.", ["none", "some"])
    assert (asked["steps"].anchors, asked["threats"].values[-1]) == ({"0": "none", "4": "all"}, 5)

    measured, _one = read(reply())
    answers = {name: answer_of(definition.by_name[name], found.value) for name, found in measured.items()}
    assert answers == {**GOOD, "share": 0.25, "lies": "yes", "threats": 5.0, "words": "yes"}
    for name, answer in answers.items():
        known = asked[name].values if name in ("steps", "share", "threats") else asked[name].names
        assert set(answer if isinstance(answer, list) else [answer]) <= set(known), name


def test_what_could_not_be_asked_is_refused():
    for changes in (
        {"dimensions": []},
        {"dimensions": [{"kind": "yes_no", "name": "notes", "title": "Notes"}]},
        {"dimensions": [{"kind": "yes_no", "name": name, "title": name} for name in ("a", "a")]},
        {"dimensions": [{"kind": "yes_no", "name": f"is_{number}", "title": "Is"} for number in range(9)]},
        {"dimensions": [{"kind": "scale", "name": "fine", "title": "Fine", "low": 0, "high": 100}]},
        {"prompt": "Judge $material by $dimensions."},
        {"prompt": "$material $dimensions $form $secret"},
        {"seconds": 0},
        {"unit": "paragraph"},
        {"length": 1},
        {"mood": "harsh"},
    ):
        with pytest.raises(ValidationError):
            defined(**changes)
