"""Every request that spends, sent twice under one key, spends once; and none is forgotten."""

import pytest

from accounts.models import AuditEntry
from accounts.scopes import Scope
from experiments import actions
from experiments.battles import campaigns
from experiments.datasets import demonstration
from experiments.keys import keyring
from experiments.models import Event, IdempotentRequest, Provider, Run, Step
from experiments.rest import idempotency
from tests.experiments.api.handlers import handlers
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

SPENDING = """
    api-experiment-start api-run-say api-run-resume api-run-mode api-run-extend api-run-ask api-run-lift api-run-judge
    api-branch api-campaign-resume api-key-test compat-start compat-status compat-turn compat-manual-continue
    compat-next-turn compat-starchamber-start compat-starchamber-turn compat-message compat-stream compat-llm-test
"""
NOT_SPENDING = """
    api-experiment-list api-run-stop api-run-pause api-run-draft api-run-import api-run-files api-run-flags
    api-run-curation api-dataset-list api-dataset-outputs api-dataset-battles api-vote api-keys api-key api-budgets
    api-budget api-campaign-stop api-experiment-share api-experiment-links api-link api-cycle-void api-cycle-restore
    api-scenarios api-scenario-versions api-scenario-share api-scenario-archive api-scenario-copy api-demonstration
    api-presets api-preset api-review-queues api-review-next api-review-undo api-review-claim api-review-release
    api-review-answer api-review-skip api-tokens api-token api-person api-person-deactivate api-person-reactivate
    api-person-factors api-invitations api-invitation api-projects api-project api-project-members api-project-member
    api-review-queue-change api-review-queue-fill api-review-reveal api-review-rubrics api-review-rubric
    api-dataset-visibility api-dataset-detail api-contestant api-battle api-council-presets api-council-preset
    api-webhooks api-webhook api-webhook-secret api-webhook-test api-delivery-again api-tags api-run-tags
    api-run-notes api-note api-views api-view api-experiment-clone api-run-import-file api-run-import-store
    api-bulk-exports api-bulk-export api-dataset-voters compat-stop compat-starchamber-stop compat-conversations
"""


def effects():
    return Run.objects.count(), Step.objects.count(), Event.objects.count(), AuditEntry.objects.count()


def test_each_request_that_changes_something_is_known_to_spend_or_not_to():
    spending = {one.name for one in handlers() if getattr(one.does, "spends", False)}
    silent = {one.name for one in handlers() if one.changes} - spending

    assert spending == set(SPENDING.split())
    assert silent == set(NOT_SPENDING.split()), "say of each new one whether models may be asked because of it"


def test_what_spends_needs_the_scope_to_spend():
    assert {one.does.scope for one in handlers() if getattr(one.does, "spends", False)} == {Scope.SPEND}


@pytest.fixture
def queued(arena, start):
    return start(arena(mode="automatic"))


@pytest.fixture
def waiting(queued):
    """At a pause that was written row by row."""
    offered = {"default": "Go on.", "actions": ["send", "default"], "error": ""}
    queued.steps.create(key="turn/1/note", kind="listen", turn=1, seat="person", data=offered)
    Run.objects.filter(pk=queued.pk).update(state=Run.State.WAITING)
    return queued


def requests(request, name):
    """The address and the body of a request that spends."""
    if name == "judge" or name == "branch":
        run = request.getfixturevalue("played")(max_turns=1)
        message = run.messages.exclude(call=None).first()
        return (f"runs/{run.pk}/judge/", {}) if name == "judge" else (f"messages/{message.pk}/branch/", {"text": "No."})
    if name == "say":
        run = request.getfixturevalue("waiting")
        return f"runs/{run.pk}/say/", {"key": "turn/1/note", "action": "send", "text": "Yes."}
    run = request.getfixturevalue("queued")
    if name == "resume":
        Run.objects.filter(pk=run.pk).update(is_held=True)
    if name == "lift":
        Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPED, stop_reason="limit_tokens")
    bodies = {"extend": {"max_turns": 9}, "mode": {"mode": "manual"}, "lift": {"limits": {"tokens": 100_000}}}
    return f"runs/{run.pk}/{name}/", bodies.get(name, {})


@pytest.mark.parametrize("name", ["say", "resume", "mode", "extend", "lift", "judge", "branch"])
def test_the_same_request_under_the_same_key_has_one_effect(request, api, is_problem, nobody_is_woken, name):
    path, body = requests(request, name)
    first = api.post(path, body, Idempotency_Key="once")
    before, woken = effects(), list(nobody_is_woken)

    again = api.post(path, body, Idempotency_Key="once")

    assert first.status_code in {200, 201}, first.content
    assert (again.status_code, again.json()["id"]) == (first.status_code, first.json()["id"])
    assert (effects(), nobody_is_woken) == (before, woken)
    other = {"text": "Something else."} if name in {"say", "branch"} else {"max_turns": 7}
    if name in {"extend", "branch"}:
        is_problem(api.post(path, {**body, **other}, Idempotency_Key="once"), 409, "Idempotency-Key")


def test_one_key_is_for_one_address(api, queued, is_problem):
    api.post(f"runs/{queued.pk}/extend/", {"max_turns": 9}, Idempotency_Key="once")

    is_problem(api.post(f"runs/{queued.pk}/mode/", {"mode": "manual"}, Idempotency_Key="once"), 409)

    assert Run.objects.get().mode == "automatic"


def test_what_was_refused_leaves_the_key_free(api, queued, is_problem):
    is_problem(api.post(f"runs/{queued.pk}/extend/", {"max_turns": 101}, Idempotency_Key="once"), 400)

    assert api.post(f"runs/{queued.pk}/extend/", {"max_turns": 9}, Idempotency_Key="once").status_code == 200


def test_a_campaign_is_resumed_once(api, alice, provider, nobody_is_woken):
    dataset, judge = demonstration.make_text(alice), add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", **asked)
    actions.start(experiment, by=alice)
    campaigns.stop(experiment, by=alice)
    path = f"experiments/{experiment.pk}/resume/"

    first = api.post(path, {}, Idempotency_Key="once")
    before, woken = effects(), list(nobody_is_woken)
    again = api.post(path, {}, Idempotency_Key="once")

    assert (first.status_code, again.status_code) == (200, 200), first.content
    assert (effects(), nobody_is_woken) == (before, woken)


@pytest.fixture
def key(alice, provider):
    return keyring.add(by=alice, provider=Provider.objects.get(), key="sk-nobody-reads-this-key")


def test_a_provider_is_asked_about_a_key_once(api, key, provider):
    first = api.post(f"keys/{key.pk}/test/", Idempotency_Key="once")
    asked = AuditEntry.objects.filter(action="key_tested").count()

    again = api.post(f"keys/{key.pk}/test/", Idempotency_Key="once")

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert asked == AuditEntry.objects.filter(action="key_tested").count() == 1


@pytest.mark.databases
def test_a_test_that_is_under_way_is_not_begun_again(api, alice, key, is_problem):
    api.post(f"keys/{key.pk}/test/", Idempotency_Key="once")
    IdempotentRequest.objects.update(answer={idempotency.BEGUN: True})

    is_problem(api.post(f"keys/{key.pk}/test/", Idempotency_Key="once"), 409, "at this moment")


@pytest.mark.databases
def test_a_test_whose_process_was_killed_can_be_asked_for_again(api, key):
    api.post(f"keys/{key.pk}/test/", Idempotency_Key="once")
    begun = IdempotentRequest.objects.get()
    IdempotentRequest.objects.update(answer={idempotency.BEGUN: True}, created=begun.created - idempotency.GIVEN_UP)

    assert api.post(f"keys/{key.pk}/test/", Idempotency_Key="once").status_code == 200
    assert AuditEntry.objects.filter(action="key_tested").count() == 2
