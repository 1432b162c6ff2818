"""What a workflow's rules would ask for: marks in the place of texts, time side by side, and the dearest course."""

from dataclasses import replace

import pytest

from experiments.workflows import arena, battles, coding, council, debate, starchamber, surface_of
from experiments.workflows.base.dry_run import Model, Path, filled, mark, mark_of, play, tokens_of, waits_for_person

MEMBERS = ("member-1", "member-2", "member-3", "chair", "chair-2")
BATTLE = {"dataset": "trees", "prompt": "text_quality", "tasks": [{"sample": 1, "left": 1, "right": 2}], "attempts": 1}
SMALL = {
    "arena": (arena.WORKFLOW, {"prompt": "Talk.", "max_turns": 2}, ("A", "B", "judge", "filter")),
    "starchamber": (starchamber.WORKFLOW, {"first_message": "Who?", "max_turns": 2}, ("model", "judge")),
    "council": (council.WORKFLOW, {"question": "Why?"}, MEMBERS),
    "council of two": (council.WORKFLOW, {"question": "Why?", "own_answers": "included"}, MEMBERS[1:4]),
    "debate": (debate.WORKFLOW, {"prompt": "Debate."}, debate.SEATS[:5]),
    "battles": (battles.WORKFLOW, BATTLE, ("judge", "judge-2", "mirror-1")),
    "coding": (coding.WORKFLOW, {"setters": "random"}, coding.SEATS[:3]),
}
ROLES = {"refiner": 1500, "debater": 2000, "summarizer": 2500}


def played(name, *, at_most, models=None, dearest=None, **config):
    workflow, usual, seats = SMALL[name]
    assumptions = surface_of(workflow.slug).assumptions
    return play(
        workflow,
        workflow.config.model_validate({**usual, **config}),
        models or {seat: Model() for seat in seats},
        replace(assumptions, dearest=dearest) if dearest else assumptions,
        at_most=at_most,
        roles=ROLES,
    )


def price(found):
    """An output token costs four times as much as an input token."""
    return sum(one.read + 4 * one.written for one in found.by_seat.values())


def test_every_call_is_counted_and_without_a_last_turn_those_of_the_first():
    counted = {"arena": (10, 10), "starchamber": (4, 4), "council": (8, 15), "council of two": (6, 10)}
    counted |= {"debate": (5, 16), "battles": (4, 12), "coding": (13, 23)}
    found = {name: (played(name, at_most=False).calls, played(name, at_most=True).calls) for name in counted}
    assert found == counted
    endless = played("arena", at_most=False, max_turns=None)
    assert (endless.calls, endless.is_whole) == (5, False)
    assert played("council", at_most=False).is_whole, "other questions are other estimates"


@pytest.mark.parametrize("name", SMALL)
def test_no_other_course_is_dearer_than_the_declared_one(name):
    """Found by ascent: for the first, second and third question of each purpose that is asked, every path is tried."""
    declared, best, course, waiting = price(played(name, at_most=True)), 0, {}, [{}]
    while waiting:
        tried, places = waiting.pop(), set()

        def dearest(config, ask, earlier, tried=tried, places=places):
            place = (ask.purpose, min(earlier, 2))
            places.add(place)
            return tried.get(place, Path.READ)

        if (found := price(played(name, at_most=True, dearest=dearest))) > best:
            best, course = found, tried
            waiting = [{**tried, place: path} for place in places for path in Path if tried.get(place) != path]

    assert best <= declared * 1.001, course


def test_a_seats_limit_and_its_reasoning_are_counted_and_side_by_side_it_takes_as_long_as_the_slowest():
    models = {seat: Model(max_tokens=6000 if seat == "member-2" else 60) for seat in MEMBERS}
    slow = played("council", at_most=True, models=models)
    models["member-1"] = models["member-2"]
    two = played("council", at_most=True, models=models)

    assert two.seconds == slow.seconds
    assert two.busy > slow.busy

    seats = ("A", "B", "judge", "filter")
    short = played("arena", at_most=True, models={seat: Model(max_tokens=10) for seat in seats})
    assert short.by_seat["A"].written == 2 * 10

    thinks = {seat: Model(reasons=seat == "A") for seat in seats}
    plain, thinking = played("arena", at_most=False), played("arena", at_most=False, models=thinks)
    assert thinking.by_seat["A"].written - plain.by_seat["A"].written == 2 * 600
    assert thinking.by_seat["judge"].read > plain.by_seat["judge"].read + 3 * 600
    assert thinking.by_seat["B"].read == plain.by_seat["B"].read


def test_marks_stand_for_texts_in_prompts_and_in_json():
    assert tokens_of(f"eight by{mark(100)}") == 102
    assert tokens_of(mark_of("漢字" * 6), at_most=True) == 12
    choices = {"type": "array", "items": {"enum": ["A", "B"]}}
    schema = {"type": "object", "properties": {"words": {"type": "string"}, "order": choices}}
    assert filled(schema, 7) == f'{{"words": "{mark(7)}", "order": ["A", "B"]}}'


def test_a_run_that_nobody_attends_waits_where_a_person_has_to_speak():
    waits = [("arena", {"mode": "manual"}), ("starchamber", {}), ("debate", {})]
    goes_on = [("arena", {}), ("arena", {"max_turns": None}), ("council", {}), ("battles", {}), ("coding", {})]
    goes_on += [("starchamber", {"max_turns": 1}), ("debate", {"mode": "automatic", "rounds": 2})]
    goes_on += [("starchamber", {"max_turns": None, "script": [{"text": "Why?"}]})]
    for name, config in (*waits, *goes_on):
        workflow, usual, seats = SMALL[name]
        found = waits_for_person(workflow, workflow.config.model_validate({**usual, **config}), seats)
        assert found == ((name, config) in waits), (name, config)
