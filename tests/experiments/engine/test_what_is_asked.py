"""With which parameters models are asked: the lab's defaults, a seat's own, and nothing that a model does not take."""

import pytest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def requests(run, purpose="reply"):
    return [call.request for call in run.calls.filter(step__purpose=purpose).order_by("id")]


def test_sides_are_asked_with_the_labs_defaults_and_filter_and_judge_coldly(arena, start, drive):
    run = start(arena(max_turns=1))
    drive()

    assert {(asked["temperature"], asked["max_tokens"]) for asked in requests(run)} == {(0.7, 6144)}
    assert {asked["temperature"] for asked in requests(run, "filter") + requests(run, "judge")} == {0.0}
    assert all("top_logprobs" not in asked for asked in requests(run))


def test_a_seat_has_its_own_sampling(arena, start, drive):
    experiment = arena(max_turns=1, judge=False, filter=False)
    own = {"temperature": 0.0, "max_tokens": 50, "top_p": 0.9, "seed": 11}
    experiment.participants.filter(seat="A").update(params=own)
    run = start(experiment)
    drive()

    of_a, of_b = requests(run)
    assert {name: of_a[name] for name in own} == own, "a temperature of zero is zero"
    assert (of_b["temperature"], of_b["max_tokens"], "top_p" in of_b) == (0.7, 6144, False)


def test_the_seed_of_the_run_makes_the_seed_of_each_call(arena, start, drive):
    experiment = arena(max_turns=2, judge=False, filter=False)
    runs = [start(experiment, seed=seed) for seed in (1, 1, 2)]
    drive()

    seeds = [[asked["seed"] for asked in requests(run)] for run in runs]
    assert seeds[0] == seeds[1]
    assert seeds[0] != seeds[2]
    texts = [[message.raw_text for message in run.messages.all()] for run in runs]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_an_arena_run_asks_for_token_probabilities_when_it_is_set_to(arena, start, drive):
    run = start(arena(max_turns=1, logprobs=True))
    drive()

    assert all((asked["logprobs"], asked["top_logprobs"]) == (True, 5) for asked in requests(run))
    assert all("top_logprobs" not in asked for asked in requests(run, "judge") + requests(run, "filter"))
    for message in run.messages.select_related("call"):
        assert all(token["logprob"] <= 0 for token in message.call.logprobs)
        assert len(message.call.logprobs[0]["alternatives"]) == 5


def test_probabilities_that_a_model_does_not_give_are_not_asked_for_and_nobody_else_is_asked(arena, start, drive):
    experiment = arena(max_turns=1, logprobs=True, judge=False, filter=False)
    model = experiment.participants.get(seat="A").model
    type(model).objects.filter(pk=model.pk).update(capabilities={"logprobs": False})
    run = start(experiment)
    drive()

    call = run.calls.get(step__key="turn/1/A")
    assert (call.model, "logprobs" in call.request, call.logprobs) == (model, False, None)
    assert call.warnings, "it is said that they were left out"
