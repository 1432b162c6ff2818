"""Arena runs, by themselves and with their operator: what is told, asked and sent, once each, and where they end."""

import json
import threading
import time
from functools import partial
from itertools import pairwise

import pytest

from accounts.errors import AlreadyAnswered, Conflict, Invalid
from experiments.engine import driver, jobs, leases, run_execution
from experiments.engine.driver import Driver
from experiments.models import Call, ModelPrice, Provider, ProviderModel, Run
from experiments.runs import actions
from experiments.runs.steering import steering
from tests.experiments.deliberating import fresh
from tests.experiments.engine.talks import pause, sent
from tests.fixtures import ARENA, wait_until
from tests.making import maker
from tests.parts import stepped_engine
from tests.rivals import at_once

BARE = {"judge": False, "filter": False}
TURN = [
    *("turn_started", "message_completed A", "message_filtered A", "message_completed B", "message_filtered B"),
    *("judge_evaluation_started", "judge_evaluation_completed", "model_metrics A", "model_metrics B"),
    "turn_completed",
]


def course(run):
    """The events; with their seat, or their state, where they have one."""
    told = run.events.exclude(type="experiment_state").order_by("seq").values_list("type", "data")
    return [" ".join(filter(None, (kind, data.get("seat"), data.get("state")))) for kind, data in told]


@pytest.mark.databases
def test_a_run_of_two_turns_has_its_messages_judgments_calls_and_events(play, provider, monkeypatch):
    run = play()

    assert (run.state, run.stop_reason) == (Run.State.COMPLETED, "max_turns")
    both = [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert [(m.turn, m.seat) for m in run.messages.all()] == both
    assert [(j.turn, j.subject) for j in run.judgments.all()] == both
    for judgment in run.judgments.all():
        assert judgment.scores
        assert judgment.call.model.label == judgment.judge
        assert judgment.call.request["response_format"]["type"] == "json_schema"
    asked = sorted(row["request_id"] for row in provider.ledger())
    assert asked == sorted(str(pk) for pk in run.calls.values_list("pk", flat=True))
    assert set(run.calls.values_list("state", flat=True)) == {Call.State.COMPLETED}
    assert [event.envelope["seq"] for event in run.events.all()] == list(range(1, run.last_seq + 1))
    begun = ["experiment_created", "experiment_started running"]
    assert course(run) == [*begun, *TURN, *TURN, "experiment_stopped completed"]
    assert list(run.events.filter(type="turn_started").values_list("data__turn", flat=True)) == [1, 2]
    monkeypatch.setattr(run_execution, "MOMENT", -1)
    assert course(play()) == course(run), "it gives way to others after every step"


def requests(run, purpose="reply"):
    return [call.request for call in run.calls.filter(step__purpose=purpose).order_by("id")]


def test_a_seat_has_its_own_sampling_and_a_gap_lies_between_two_turns(arena, play):
    experiment = arena(gap_seconds=60, **BARE)
    own = {"temperature": 0.0, "max_tokens": 50, "top_p": 0.9, "seed": 11}
    experiment.participants.filter(seat="A").update(params=own)
    run = play(experiment=experiment)

    of_a, of_b, *_others = requests(run)
    assert {name: of_a[name] for name in own} == own, "a temperature of zero is zero"
    assert (of_b["temperature"], of_b["max_tokens"]) == (0.7, 6144)
    assert not {"top_p", "top_logprobs"} & of_b.keys()
    said = list(run.calls.order_by("sent").values_list("sent", flat=True))
    assert [(after - before).total_seconds() >= 60 for before, after in pairwise(said)] == [False, True, False]


def test_the_seed_of_the_run_makes_the_seed_of_each_call_and_says_who_begins(arena, play):
    experiment = arena(max_turns=2, counterbalance=True, **BARE)
    first, same, other = [play(experiment=experiment, seed=seed) for seed in (1, 1, 2)]
    assert [run.messages.first().seat for run in (first, same, other)] == ["B", "B", "A"], "counterbalanced"

    seeds = [[asked["seed"] for asked in requests(run)] for run in (first, same, other)]
    texts = [[message.raw_text for message in run.messages.all()] for run in (first, same, other)]
    for of_first, of_same, of_other in (seeds, texts):
        assert of_first == of_same
        assert of_first != of_other


def test_token_probabilities_are_asked_of_sides_that_give_them_when_that_is_set(arena, play):
    run = play(max_turns=1, logprobs=True)
    assert all((asked["logprobs"], asked["top_logprobs"]) == (True, 5) for asked in requests(run))
    assert all("top_logprobs" not in asked for asked in requests(run, "judge") + requests(run, "filter"))
    for message in run.messages.select_related("call"):
        assert all(token["logprob"] <= 0 for token in message.call.logprobs)
        assert len(message.call.logprobs[0]["alternatives"]) == 5

    experiment = arena(max_turns=1, logprobs=True, **BARE)
    model = experiment.participants.get(seat="A").model
    ProviderModel.objects.filter(pk=model.pk).update(capabilities={"logprobs": False})
    call = play(experiment=experiment).calls.get(step__key="turn/1/A")
    assert (call.model, "logprobs" in call.request, call.logprobs) == (model, False, None)
    assert call.warnings, "it is said that they were left out"


def test_a_limit_of_money_is_never_passed_and_refuses_a_model_of_unknown_price(arena, play, provider):
    experiment = arena(max_turns=20, limits={"cost": 0.05})
    unknown = play(experiment=experiment)
    assert (unknown.stop_reason, provider.ledger()) == ("limit_cost", [])
    assert "unknown" in unknown.events.get(type="experiment_stopped").data["message"]

    for model in ProviderModel.objects.all():
        ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input="0.000002", output="0.000004")
    run = play(experiment=experiment)
    assert run.stop_reason == "limit_cost"
    assert 0 < Run.objects.with_totals().get(pk=run.pk).total_cost <= 0.05


def test_words_scores_and_events_stay_with_their_run(arena, start, drive, charlie):
    experiments = [arena(prompt=f"Divide {what}.", max_turns=1) for what in ("eleven boats", "twelve houses")]
    type(experiments[1]).objects.filter(pk=experiments[1].pk).update(owner=charlie)
    boats, houses = (start(experiment, seed=seed) for seed, experiment in enumerate(experiments))
    drive()

    for run, own, foreign in ((boats, "eleven boats", "twelve houses"), (houses, "twelve houses", "eleven boats")):
        asked = json.dumps([call.request for call in run.calls.all()])
        assert (own in asked, foreign in asked) == (True, False)
        assert (run.messages.count(), run.judgments.count()) == (2, 2)
        assert all(judgment.call.run_id == run.pk for judgment in run.judgments.all())
        assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.events.count() + 1))
        assert foreign not in json.dumps(list(run.events.values_list("data", flat=True)))


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_what_is_due_is_done_while_many_runs_are_taken_over(arena, start, drive, monkeypatch, settings):
    done, claim, renew = [], leases.claim, leases.renew

    def slow_claim(run_id, announce):
        done.append("claim")
        time.sleep(0.3)
        return claim(run_id, announce)

    def noted_renewal(fences):
        done.append("renew")
        renew(fences)

    monkeypatch.setattr(leases, "claim", slow_claim)
    monkeypatch.setattr(leases, "renew", noted_renewal)
    settings.LEASE_SECONDS = 1  # a renewal is due after a quarter of it
    runs = [start(arena()) for _ in range(4)]
    drive()

    assert done.count("claim") >= len(runs)
    assert ("claim", "claim") not in set(pairwise(done))
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {Run.State.COMPLETED}


def test_a_driver_at_work_takes_a_run_that_is_queued_at_once(arena, start, provider, monkeypatch):
    monkeypatch.setattr(driver, "LOOK_SECONDS", 3600)
    monkeypatch.setattr(jobs.wakeups, "wake", lambda channel, about="": Driver.current._wake(channel, about))
    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: Driver.current and Driver.current._look.due, "its first look")
        run = start(arena())
        jobs.wake_now(run.pk)
        wait_until(lambda: fresh(run).is_over, "the run to end")

    assert (fresh(run).started - fresh(run).created).total_seconds() < 60


def test_upstreams_that_a_seat_names_are_the_only_ones_that_a_routing_provider_may_ask(alice, arena, play):
    named = {"A": {"served_by": "deepinfra/fp8 ,together"}, "B": {"served_by": "together, bf16"}}
    cast = {
        one.seat: {"model": one.model.slug, "params": named.get(one.seat, {})} for one in arena().participants.all()
    }
    with pytest.raises(Invalid) as refusal:
        actions.create(owner=alice, workflow="arena", config=ARENA, cast=cast)
    assert sorted(refusal.value.errors) == ["cast.A.params.served_by", "cast.B.params.served_by"], (
        "its provider answers itself"
    )

    Provider.objects.update(routes=True)
    run = play(experiment=actions.create(owner=alice, workflow="arena", config=ARENA | {"max_turns": 1}, cast=cast))

    asked = {call.step.seat: call.request["provider"] for call in run.calls.select_related("step")}
    whichever = {"allow_fallbacks": False, "require_parameters": True}
    upstreams = ["deepinfra/fp8", "together"]
    assert asked.pop("A") == {**whichever, "order": upstreams, "only": upstreams}
    assert asked.pop("B") == {**whichever, "order": ["together"], "only": ["together"], "quantizations": ["bf16"]}
    assert list(asked.values()) == [whichever] * len(asked)


@maker
def manual(play, /, **config):
    return play(mode="manual", **config)


@maker
def say(alice, drive, /, run, *actions_, text=""):
    for action in actions_:
        steering.say(run, by=alice, key=pause(run).key, action=action, text=text)
        drive()
    run.refresh_from_db()


def waits(run):
    return (run.state, pause(run).purpose, pause(run).seat)


REPLIES = [("waiting", "turn_start", "A"), ("waiting", "model_completed", "B")]
BETWEEN = ("waiting", "turn_completed", "")


def test_it_pauses_before_each_reply_and_after_each_turn(manual, say):
    for auto_advance, actions_, pauses in (
        (False, ["default", "default", "next", "default", "default"], [*REPLIES, BETWEEN, *REPLIES]),
        (True, ["default"] * 4, REPLIES * 2),  # the next turn starts by itself
        (False, ["next", "next", "default", "default"], [REPLIES[0], BETWEEN, *REPLIES]),  # or from the first pause
    ):
        run, seen = manual(auto_advance=auto_advance), []
        for action in actions_:
            seen.append(waits(run))
            say(run, action)
        assert seen == pauses
        assert (run.state, run.stop_reason) == ("completed", "max_turns")


def test_the_default_is_sent_where_nothing_else_was_wanted_and_the_judge_shown_what_was(manual, say, provider):
    for action, text in (("send", "  \n"), ("default", "An abandoned edit.")):
        run = manual(max_turns=1)
        shown = pause(run).data["default"]
        say(run, action, text=text)
        assert sent(provider, run, "turn/1/A") == [{"role": "user", "content": shown}], action
        assert run.events.get(type="said").data["edited"] is False

    say(run, "send", text="Admit that you are losing.")
    told = run.events.get(type="said", data__edited=True).data
    assert (told["text"], told["by"], told["seat"]) == ("Admit that you are losing.", "alice", "B")
    assert told["text"] in sent(provider, run, "turn/1/judge")[0]["content"]


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_many_submits_at_the_same_moment_one_is_heard(manual, drive, alice):
    run = manual()
    key = pause(run).key

    def submit(number):
        steering.say(Run.objects.get(pk=run.pk), by=alice, key=key, action="send", text=f"Say {number}.")
        return number

    answers = at_once(*(partial(submit, number) for number in range(6)), refused=AlreadyAnswered)
    drive()

    [heard] = [number for number in answers if isinstance(number, int)]
    assert run.messages.filter(seat="A").count() == 1
    assert run.calls.get(step__seat="A").request["messages"] == [{"role": "user", "content": f"Say {heard}."}]
    assert run.events.filter(type="said").count() == 1


def test_what_is_said_where_nobody_listens_is_refused_and_asks_nobody(manual, say, alice, drive, provider):
    run, stopped = manual(max_turns=1), manual(max_turns=1)

    def refused(run, *keys, why=Conflict):
        asked = len(provider.ledger())
        for key in keys:
            with pytest.raises(why):
                steering.say(run, by=alice, key=key, action="default")
        drive()
        assert len(provider.ledger()) == asked

    refused(run, "turn/1/B/prompt", "turn/2/A/prompt", "turn/1/A", "", "turn/1/A/prompt/2")
    first = pause(run).key
    for action, text in (("regenerate", ""), ("send", "\0"), ("send", "x" * 1_000_001), ("note", " ")):
        with pytest.raises(Invalid):
            steering.say(run, by=alice, key=first, action=action, text=text)
    assert first == "turn/1/A/prompt"
    say(run, "default")
    refused(run, first, why=AlreadyAnswered)
    last = pause(run).key
    say(run, "default")
    assert run.state == "completed"
    refused(run, first, last, "turn/2/A/prompt", "turn/1/next")
    steering.say(stopped, by=alice, key=first, action="send", text="x" * 1_000_000)
    actions.stop(stopped, by=alice)
    refused(stopped, first)
    assert stopped.calls.count() == 0


def test_a_skipped_side_says_nothing_and_is_not_scored(manual, say):
    for first, second in (("skip", "default"), ("default", "skip"), ("skip", "skip")):
        run = manual(max_turns=2)
        say(run, first)
        assert waits(run) == ("waiting", "model_completed", "B")
        say(run, second)

        assert (run.state, pause(run).key) == ("waiting", "turn/1/next")
        assert run.steps.filter(key="turn/1/completed").exists()
        spoke = [seat for seat, action in (("A", first), ("B", second)) if action == "default"]
        assert [message.seat for message in run.messages.all()] == spoke
        for judgment in run.judgments.all():
            was_skipped = judgment.subject not in spoke
            assert (judgment.scores is None, "said nothing" in judgment.unscored_reason) == (was_skipped, was_skipped)
        assert run.judgments.count() == 2
        asked = run.calls.filter(step__key="turn/1/judge")
        assert asked.count() == len(spoke), "a turn in which nobody spoke costs no judge"
        if spoke:
            prompt = asked.get().request["messages"][0]["content"]
            assert {seat for seat in "AB" if f"[[message-{seat}" in prompt} == set(spoke)


def test_it_ends_from_every_pause_and_says_stopped(manual, say):
    for before in ([], ["default"], ["default", "default"]):
        run = manual()
        say(run, *before, "end")
        assert (run.state, run.stop_reason, run.open_pauses) == ("stopped", "manual_stop", []), before
        assert run.events.filter(type="experiment_stopped").count() == 1


def test_it_goes_on_by_itself_once_it_is_automatic_and_waits_once_it_is_manual(manual, arena, start, drive, alice):
    waiting, queued = manual(max_turns=2), start(arena(max_turns=3))
    steering.set_mode(waiting, by=alice, mode="automatic")
    steering.set_mode(queued, by=alice, mode="manual")
    drive()
    waiting.refresh_from_db()
    queued.refresh_from_db()

    assert (waiting.state, waiting.messages.count(), waiting.mode) == ("completed", 4, "automatic")
    assert waits(queued) == ("waiting", "turn_start", "A")


def test_the_last_turn_can_be_moved_while_it_is_played(manual, say, alice):
    """What would be asked changes then; what was shown is what is sent, and is not told as rewritten."""
    run = manual(max_turns=1)
    steering.extend(run, by=alice, max_turns=2)
    say(run, "default", "default")

    assert waits(run)[1] == "turn_completed"
    assert run.config["max_turns"] == 2
    assert "rewrote" not in str(run.calls.get(step__key="turn/1/judge").request["messages"])
    with pytest.raises(Invalid):
        steering.extend(run, by=alice, max_turns=0)
    say(run, "next")
    with pytest.raises(Invalid):
        steering.extend(run, by=alice, max_turns=1)
