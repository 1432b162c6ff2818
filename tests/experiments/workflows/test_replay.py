"""Following a workflow's generator: what to do next, given what is recorded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def council(log):
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
    replay = Replay(council(log), {key: ALL.get(key, Outcome()) for key in recorded})
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
