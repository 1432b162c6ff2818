"""Following a workflow's generator: what to do next, given what is recorded, and what its rules would ask for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.workflows import arena, battles, coding, council, debate, starchamber, surface_of
from experiments.workflows.base.dry_run import Model, Path, filled, mark, mark_of, play, tokens_of, waits_for_person
from experiments.workflows.base.records import Record, TurnStarted
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, End, Listen, Outcome


def ask(key):
    return Ask(key=key, seat="A", messages=())


def record(key):
    return Record(key, TurnStarted(turn=1))


def keys(todo):
    return [step.key for step in todo.steps]


def test_a_key_that_is_used_twice_is_a_mistake_of_the_workflow():
    for steps, recorded in (
        ([record("one"), ask("one")], {}),
        ([ask("one"), ask("one")], {"one": Outcome()}),
        ([[ask("one"), ask("one")]], {}),
    ):
        with pytest.raises(ValueError, match="'one' twice"):
            Replay((step for step in steps), recorded).start()


def solver(name):
    first = yield ask(f"{name}/solve")
    second = yield ask(f"{name}/check")
    return f"{first.text}+{second.text}"


def test_a_long_run_is_taken_up_again_however_many_rounds_are_recorded():
    def play():
        for number in range(3000):
            yield [ask(f"{number}/a"), ask(f"{number}/b")]
        return End("done")

    recorded = {f"{number}/{side}": Outcome() for number in range(3000) for side in "ab"}

    assert Replay(play(), recorded).start().end == End("done")


def idle(text):
    return text
    yield


def both_solvers():
    return "/".join((yield [solver("x"), solver("y")]))


def deliberation(log):
    """Everything a workflow may yield: steps, lists, generators inside lists inside generators, some without a step."""
    yield record("begun")
    yield []
    answers = yield [ask("a"), both_solvers(), record("noted"), idle("nothing"), ask("b")]
    log.append([str(getattr(answer, "text", answer)) for answer in answers])
    last = yield ask("chair")
    return End("done", message=last.text)


ALL = {key: Outcome(text=key) for key in ["a", "b", "x/solve", "x/check", "y/solve", "y/check", "chair"]}


@given(st.sets(st.sampled_from([*ALL, "begun", "noted"])), st.randoms(use_true_random=False))
def test_whatever_is_recorded_and_in_whatever_order_the_rest_arrives_the_end_is_the_same(recorded, shuffle):
    """Steps of a list come out together, and generators in it go on each at its own speed."""
    log = []
    replay = Replay(deliberation(log), {key: ALL.get(key, Outcome()) for key in recorded})
    todo, done, open_asks = replay.start(), [], []
    assert {"a", "b", "x/solve", "y/solve"} - recorded <= set(keys(todo))
    while todo.end is None:
        done += keys(todo)
        open_asks += [step.key for step in todo.steps if isinstance(step, Ask)]
        key = open_asks.pop(shuffle.randrange(len(open_asks)))
        assert replay.resolve("another", Outcome()).steps == []
        todo = replay.resolve(key, ALL[key])
        assert todo.end or replay.resolve(key, Outcome(text="again")).steps == []
    done += keys(todo)

    assert todo.end == End("done", message="chair")
    assert log == [["a", "x/solve+x/check/y/solve+y/check", "", "nothing", "b"]]
    assert sorted(done) == sorted({*ALL, "begun", "noted"} - recorded)


def listening():
    """Asks somebody else where the first fails, and listens before it goes on."""
    if not (yield ask("one")).ok:
        yield ask("one/other")
    yield Listen("pause", "after", ("default",), may_pass=True)
    yield ask("two")
    return End("done")


def test_a_pause_is_passed_again_when_what_came_after_it_was_begun_and_not_by_a_step_that_is_not_reached_any_more():
    assert keys(Replay(listening(), {"one": Outcome()}, begun=["one", "two"]).start()) == ["two"]
    replay = Replay(listening(), {}, begun=["one", "one/other"])
    replay.start()
    assert keys(replay.resolve("one", Outcome())) == ["pause"]


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


def played(name, *, at_most, models=None, dearest=None, **config):
    workflow, usual, seats = SMALL[name]
    assumptions = surface_of(workflow.slug).assumptions
    return play(
        workflow,
        workflow.config.model_validate({**usual, **config}),
        models or {seat: Model() for seat in seats},
        replace(assumptions, dearest=dearest) if dearest else assumptions,
        at_most=at_most,
        roles={"refiner": 1500, "debater": 2000, "summarizer": 2500},
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
