"""Finding the JSON answer in what a model wrote: a value or a reason, never a default, never another object."""

import json

import pytest

from experiments.workflows.base.ballots import read_ballot, read_repaired
from experiments.workflows.base.filter import read_filter
from experiments.workflows.base.json_reader import (
    DEEPEST_ANSWER,
    LONGEST_ANSWER,
    find_json,
    read_json,
    read_json_or_list,
)
from experiments.workflows.base.judge import RANGES, read_verdicts
from experiments.workflows.base.labels import labels_for
from experiments.workflows.base.parsing import Unreadable, plain
from experiments.workflows.base.steps import Outcome
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.coding.judging import read_vote
from experiments.workflows.coding.problems import read_problem
from experiments.workflows.coding.solving import read_solution
from experiments.workflows.debate.answers import ENGLISH, Part, read_actions, read_brief, read_points
from tests.experiments import contests
from tests.experiments.battling import reply

NAMES = ("points", "more")
VALUE = {"points": ['a {b} [c] </think> "d" \\', {"contents": "e, }"}], "x": 1.5}
TEXT = json.dumps(VALUE)
OTHER = json.dumps(VALUE | {"x": 2})


def nested(depth):
    return '{"points": ' * (depth - 1) + "{}" + "}" * (depth - 1)


SIDE = {**dict.fromkeys(RANGES, 0.5), "notes": "x", "confidence": 0.5}
ORIGINAL = "I would offer you ten apples."
LABELS = labels_for(2)


def judged(text):
    [verdict], _dynamics = read_verdicts(Outcome(text=text), ["A"])
    assert bool(verdict.unscored_reason) == (verdict.scores is None)
    return verdict.scores


def filtered(text):
    return read_filter(Outcome(text=text), ORIGINAL).status != "failed"


def parsed(read, *more):
    def is_read(text):
        try:
            return read(text, *more)
        except Unreadable:
            return None

    return is_read


WORKFLOWS = {
    "judge": ({"A": SIDE, "dynamics": "x"}, judged),
    "filter": ({"text": ORIGINAL, "removed": [], "confidence": 1, "reasoning": "x"}, filtered),
    "ballot": ({"review": "x", "ranking": ["Response B", "Response A"]}, parsed(read_ballot, LABELS)),
    "repaired ballot": ({"ranking": ["Response B", "Response A"]}, parsed(read_repaired, LABELS)),
    "debate brief": ({"objective": "x", "context": "y"}, parsed(read_brief, ENGLISH)),
    "debate points": ({"new_perspectives": ["x"]}, parsed(read_points, Part("A", 1, 1, 0), ENGLISH)),
    "debate actions": ({"recommended": ["x"], "discouraged": []}, parsed(read_actions, (), ENGLISH)),
    "coding problem": (contests.problem(), parsed(read_problem)),
    "coding solution": (json.loads(contests.solution()), parsed(read_solution)),
    "coding vote": (contests.judgment(), parsed(read_vote)),
    "battle": (json.loads(reply("A")), lambda text: PROMPTS["text_quality"].read(text).winner),
}
ANSWERS = {
    "bare": ("{0}", True),
    "fence": ("```json\n{0}\n```", True),
    "open fence": ("```json\n{0}", True),
    "prose": ("Certainly! {0} Let me know.", True),
    "brace in prose": ("I use {{braces}} [here] and {{ there. {0} And {{after}}.", True),
    "thinking": ("<think>{1}</think>{0}", True),
    "thinking after prose": ("Well. <Thinking>{1}</Thinking>{0}", True),
    "end of thinking": ("{1} </think>{0}", True),
    "thinking afterwards": ("{0}\n<think>{1}</think>", True),
    "twice": ("{0}\n\n{0}", True),
    "wrapped": ('{{"result": {0}}}', True),
    "wrapped with a remark": ('{{"remark": "x", "result": {{"final": {0}}}}}', True),
    "listed": ("[{0}]", True),
    "other object": ('{{"unknown": 1}} {0}', True),
    "two that differ": ("{0}\n\n{1}", False),
    "cut after it": ('{0} {{"unknown', True),
    "cut before it": ('{{"unknown": {0}', False),
    "broken before it": ('{{"unknown": x y}} {0}', False),
    "thinking not ended": ("<think>{0}", False),
    "too long": ("{0}" + " " * LONGEST_ANSWER, False),
    "nothing": ("I refuse.", False),
    "other form": ('{{"unknown": 1}}', False),
}


def changed(value):
    """The same answer with another text or number somewhere in it."""
    if isinstance(value, dict):
        name = next(iter(value))
        return {**value, name: changed(value[name])}
    return [changed(value[0]), *value[1:]] if isinstance(value, list) else f"{value}!"


def test_the_same_answer_is_read_alike_in_every_workflow():
    for form, (template, is_read) in ANSWERS.items():
        for workflow, (value, read) in WORKFLOWS.items():
            text = template.format(json.dumps(value), json.dumps(changed(value)))
            assert bool(read(text)) == is_read, (workflow, form)


def test_of_an_answer_and_a_part_the_whole_is_taken_a_list_where_that_is_asked_for_and_slips_are_forgiven():
    whole = {"points": 1, "more": {"a": 1}}
    assert read_json(f'{{"points": 1}} {json.dumps(whole)} {{"more": {{}}}}', NAMES) == whole
    assert read_json(nested(DEEPEST_ANSWER), NAMES) == json.loads(nested(DEEPEST_ANSWER))
    for text in ('["a", "b"]', 'Here: ["a", "b"].', '```json\n["a", "b"]\n```'):
        assert read_json_or_list(text, NAMES) == ["a", "b"]
        with pytest.raises(Unreadable):
            read_json(text, NAMES)

    for text in (
        """{'points': 'it\\'s', more: "a 24\\" screen",}""",
        """A 24" screen. {'points': 'it\\'s', "more": 'a 24" screen'}""",
        """// don't\n{"points": "it's", /* don't */ "more": 'a 24\\" screen'}""",
        json.dumps({"answer": """{points: "it's", 'more': "a 24\\" screen",}"""}),
    ):
        assert read_json(text, NAMES) == {"points": "it's", "more": 'a 24" screen'}
    for value, taken in ((" a\n", "a"), ("", ""), (None, ""), (3, ""), (["a"], ""), ("\x00a\ud800", "\ufffda\ufffd")):
        assert plain(value) == taken


def test_a_missing_answer_has_its_reason():
    for text, reason in (
        *((text, "no_json") for text in ("", "   ", "I refuse.", "42", "null", '"a text"', "{]", "}")),
        *((text, "other_form") for text in ("see [1] and [2]", "[1, 2]", "[]", '{"other": 1}')),
        *(('{"points": ["a", "b"], "more', "broken"), ("{cooperation: high;; 'anger' = low", "broken")),
        *((text, "broken") for text in ("{'points': 1", "{", nested(DEEPEST_ANSWER + 1))),
        *((text, "other_form") for text in (TEXT[:-1], TEXT.replace('"', "", 1))),  # a part of it is whole
        (f"{TEXT} {OTHER}", "contradictory"),
        (f'{{"one": {TEXT}, "two": {OTHER}}}', "contradictory"),
        (f"{TEXT}{' ' * LONGEST_ANSWER}", "too_long"),
    ):
        assert find_json(text, NAMES).reason == reason
        with pytest.raises(Unreadable):
            read_json(text, NAMES)
