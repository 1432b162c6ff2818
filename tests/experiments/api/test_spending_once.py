"""Every request that spends, sent twice under one key, spends once; and none is forgotten."""

import pytest

from accounts.models import AuditEntry
from accounts.scopes import Scope
from experiments.api import idempotency
from experiments.lab.keys import keyring
from experiments.library.datasets import demonstration
from experiments.models import Event, IdempotentRequest, Provider, Run, Step
from experiments.runs import actions
from experiments.workflows.battles.campaign import campaigns
from tests.cases import each_case
from tests.experiments.api.handlers import handlers
from tests.fixtures import add_model


def effects():
    return Run.objects.count(), Step.objects.count(), Event.objects.count(), AuditEntry.objects.count()


SPENDING = """
    api-experiment-start api-run-say api-run-resume api-run-mode api-run-extend api-run-ask api-run-lift api-run-judge
    api-branch api-campaign-resume api-key-test compat-start compat-status compat-turn compat-manual-continue
    api-study-start api-study-resume api-study-repeats compat-next-turn compat-starchamber-start compat-starchamber-turn
    compat-message compat-stream compat-llm-test
"""


def test_because_of_these_models_may_be_asked_and_they_need_the_scope_to_spend():
    spending = {one.name: one.does.scope for one in handlers() if getattr(one.does, "spends", False)}

    assert set(spending) == set(SPENDING.split())
    assert set(spending.values()) == {Scope.SPEND}


@pytest.fixture
def queued(arena, start):
    return start(arena(mode="automatic"))


@pytest.fixture
def ended(played):
    return played(max_turns=1)


@pytest.fixture
def campaign(alice, provider):
    """It has been stopped."""
    dataset, judge = demonstration.make_text(alice), add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", **asked)
    actions.start(experiment, by=alice)
    campaigns.stop(experiment, by=alice)
    return experiment


SENT = {
    "say": {"key": "turn/1/note", "action": "send", "text": "Yes."},
    "extend": {"max_turns": 9},
    "mode": {"mode": "manual"},
    "lift": {"limits": {"tokens": 100_000}},
    "branch": {"text": "No."},
}


@each_case("name", ["say", "resume", "mode", "extend", "lift", "judge", "branch", "campaign"])
def test_the_same_request_under_the_same_key_has_one_effect(
    api, ended, campaign, queued, is_problem, nobody_is_woken, name
):
    run, body = queued, SENT.get(name, {})
    message = ended.messages.exclude(call=None).first()
    if name == "say":  # at a pause that was written row by row
        offered = {"default": "Go on.", "actions": ["send", "default"], "error": ""}
        run.steps.create(key="turn/1/note", kind="listen", turn=1, seat="person", data=offered)
    changed = {
        "say": {"state": Run.State.WAITING},
        "resume": {"is_held": True},
        "lift": {"state": Run.State.STOPPED, "stop_reason": "limit_tokens"},
    }
    Run.objects.filter(pk=run.pk).update(**changed.get(name, {"is_held": False}))
    path = f"runs/{ended.pk if name == 'judge' else run.pk}/{name}/"
    path = {"campaign": f"experiments/{campaign.pk}/resume/", "branch": f"messages/{message.pk}/branch/"}.get(
        name, path
    )
    if name == "extend":  # a key is free after a refusal
        is_problem(api.post(path, {"max_turns": 101}, Idempotency_Key="once"), 400)
    if name == "lift":
        is_problem(api.post(path, {"limits": {"tokens": -1}}, Idempotency_Key="once"), 400, "limits")
    first = api.post(path, body, Idempotency_Key="once")
    before, woken = effects(), list(nobody_is_woken)

    again = api.post(path, body, Idempotency_Key="once")

    assert first.status_code in {200, 201}, first.content
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert (effects(), nobody_is_woken) == (before, woken)
    made = first.json()
    if name == "branch":
        assert (made["origin"], made["parent"], made["branched_from"]) == ("branch", str(ended.pk), str(message.pk))
        is_problem(api.post(path, {"text": " "}), 400)
        is_problem(api.post(f"runs/{ended.pk}/mode/", {"mode": "manual"}), 409)
        is_problem(api.post(f"runs/{ended.pk}/pause/"), 409)
    if name == "lift":
        assert (made["state"], Run.objects.get(pk=run.pk).config["limits"]["tokens"]) == ("queued", 100_000)
        is_problem(api.post(path, {"limits": {}}), 409, "not stopped by a limit")
    if name == "judge":
        assert (made["workflow"], made["parent"]) == ("judging", str(ended.pk))
    if name == "mode":
        assert made["mode"] == "manual"
        is_problem(api.post(path, {"mode": "sideways"}), 400)
    if name in {"extend", "branch"}:
        other = {"text": "Something else."} if name == "branch" else {"max_turns": 7}
        is_problem(api.post(path, other, Idempotency_Key="once"), 409, "Idempotency-Key")
    if name == "extend":  # and is for one address
        is_problem(api.post(f"runs/{run.pk}/mode/", {"mode": "manual"}, Idempotency_Key="once"), 409)
        assert Run.objects.get(pk=run.pk).mode == "automatic"


@pytest.mark.databases
def test_a_provider_is_asked_about_a_key_once_unless_the_process_was_killed(api, alice, provider, is_problem):
    key = keyring.add(by=alice, provider=Provider.objects.get(), key="sk-nobody-reads-this-key")
    path, tested = f"keys/{key.pk}/test/", AuditEntry.objects.filter(action="key_tested")
    first = api.post(path, Idempotency_Key="once")
    again = api.post(path, Idempotency_Key="once")
    assert (again.status_code, again.json(), tested.count()) == (first.status_code, first.json(), 1)

    IdempotentRequest.objects.update(answer={idempotency.BEGUN: True})
    is_problem(api.post(path, Idempotency_Key="once"), 409, "being processed")
    assert tested.count() == 1

    begun = IdempotentRequest.objects.get().created - idempotency.GIVEN_UP
    IdempotentRequest.objects.update(created=begun)
    assert api.post(path, Idempotency_Key="once").status_code == 200
    assert tested.count() == 2
