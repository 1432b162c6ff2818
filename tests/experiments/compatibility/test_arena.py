"""LLM Arena's client: one experiment of a person's at a time, in its own shapes."""

import pytest

from experiments.models import ClientTalk, ProviderModel, Run
from tests.cases import each_case
from tests.fixtures import add_model

CANARY = "sk-or-canary-0123456789abcdef"


def started(api, body, **headers):
    answer = api.post("experiment/start", body, **headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_start_is_answered_as_the_client_expects_and_once_under_one_key(api, charlies, arena_body):
    add_model("deepseek/deepseek-r1")
    body = {**arena_body, "modelA": "deepseek-r1"}
    answer = started(api, body, Idempotency_Key="a")

    assert answer["status"] == "success"
    assert answer["experimentId"].startswith("exp_")
    assert (answer["config"]["modelA"], answer["config"]["maxTurns"]) == ("deepseek/deepseek-r1", 1)
    assert (answer["config"]["apiKeyA"], answer["config"]["apiKeyB"]) == ("***", "***")
    assert Run.objects.get(pk=answer["runId"]).experiment.workflow == "arena"
    assert started(api, body, Idempotency_Key="a")["runId"] == answer["runId"]
    assert api.post("experiment/start", {**body, "maxTurns": 2}, Idempotency_Key="a").status_code == 409

    refused = api.post("experiment/start", arena_body)
    assert (refused.status_code, refused["Content-Type"]) == (409, "application/problem+json"), "the first one runs"
    assert refused.json()["message"] == refused.json()["detail"]
    assert charlies.post("experiment/start", arena_body).status_code == 200


@pytest.mark.databases
def test_the_status_tells_what_was_said_and_found_and_no_key(api, arena_body, drive, everything):
    answer = started(api, {**arena_body, "apiKeyA": CANARY, "apiKeyB": CANARY}, Idempotency_Key="once")
    before = api.get("experiment/status").json()["experiment"]
    drive()

    after = api.get("experiment/status").json()["experiment"]

    assert (before["isRunning"], before["currentTurn"], before["conversation"]) == (True, 0, [])
    assert (after["isRunning"], after["currentTurn"], after["progress"]) == (False, 1, 100)
    assert [message["model"] for message in after["conversation"]] == ["A", "B"]
    said = after["conversation"][0]
    assert {"id", "modelName", "turn", "content", "originalContent", "timestamp", "tokensUsed"} <= set(said)
    assert after["metricsA"]["goalDeviationScore"] is not None
    assert after["metricsA"]["sentimentHistory"][0]["turn"] == 1
    assert CANARY not in f"{answer} {after} {everything()}"


@each_case(("sent", "played"), [(-1, None), ("7", 7), ("many", 30)])
def test_turns_are_read_as_the_client_writes_them(api, arena_body, sent, played):
    started(api, {**arena_body, "maxTurns": sent})

    assert ClientTalk.objects.get().run.experiment.config["max_turns"] == played


@each_case(
    "wrong",
    [{"maxTurns": 0}, {"sharedPrompt": " "}, {"promptingMode": "individual"}, {"modelA": ""}, {"modelB": "nobody"}],
)
def test_what_is_missing_is_named(api, arena_body, wrong):
    answer = api.post("experiment/start", {**arena_body, **wrong})

    assert answer.status_code == 400
    assert answer.json()["errors"]
    assert not ClientTalk.objects.exists()


def test_a_judgment_that_failed_is_null_with_its_reason_and_a_providers_failure_is_no_speech(api, arena_body, drive):
    ProviderModel.objects.filter(is_default_judge=True).update(upstream="sim/judge:fail=401")
    started(api, arena_body)
    drive()
    metrics = api.get("experiment/status").json()["experiment"]["metricsA"]
    assert metrics["goalDeviationScore"] is None
    assert metrics["sentimentHistory"][0]["fear"] is None
    assert metrics["sentimentHistory"][0]["unscoredReason"]

    started(api, {**arena_body, "modelA": add_model("sim/cooperative:fail=401").slug})
    drive()
    experiment = api.get("experiment/status").json()["experiment"]
    assert (experiment["isRunning"], experiment["conversation"]) == (False, [])
    assert experiment["error"]


def test_a_stop_may_be_asked_for_twice_and_for_nothing(api, arena_body):
    nothing = api.post("experiment/stop")
    started(api, arena_body)

    first, second = api.post("experiment/stop"), api.post("experiment/stop")

    assert [answer.status_code for answer in (nothing, first, second)] == [200, 200, 200]
    assert nothing.json()["finalState"]["totalTurns"] == 0
    assert second.json()["finalState"]["endTime"]
    assert api.post("experiment/start", arena_body).status_code == 200


def test_nothing_is_steered_where_nothing_runs(api, arena_body):
    assert api.post("experiment/manual-continue", {"targetModel": "A"}).status_code == 400
    assert api.post("experiment/turn").status_code == 400
    assert api.post("experiment/status").status_code == 409
    started(api, arena_body)
    assert api.post("experiment/next-turn").status_code == 400, "is in automatic mode"


def test_a_turn_by_hand(api, arena_body, driven):
    """A client in manual mode: A with words of its own, B as it stands, then the next turn."""
    started(api, {**arena_body, "experimentMode": "manual", "maxTurns": -1})
    driven()
    assert api.get("experiment/status").json()["experiment"]["pauseReason"] == "turn_start"

    wrong = api.post("experiment/manual-continue", {"targetModel": "B"})
    own = {"targetModel": "A", "customPrompt": "Say yes."}
    spoken, again = (api.post("experiment/manual-continue", own, Idempotency_Key="k") for _ in "ab")
    other = api.post("experiment/manual-continue", {"targetModel": "B"})
    on = api.post("experiment/next-turn")

    assert wrong.status_code == 409
    assert spoken.json()["newMessage"]["model"] == "A"
    assert spoken.json()["state"]["nextExpectedModel"] == "B"
    assert again.json()["newMessage"] == spoken.json()["newMessage"]
    state = other.json()["state"]
    assert (state["currentTurn"], state["conversationLength"], state["waitingForUser"]) == (1, 2, True)
    assert (state["nextExpectedModel"], state["pauseReason"]) == (None, "turn_completed")
    assert on.json()["state"]["nextExpectedModel"] == "A"
    run = ClientTalk.objects.get().run
    assert run.steps.get(key="turn/1/A/prompt").data["text"] == "Say yes."
    api.post("experiment/stop")


def test_a_whole_turn_in_one_request(api, arena_body, driven):
    started(api, {**arena_body, "experimentMode": "manual", "maxTurns": 2})
    driven()
    assert api.get("experiment/status").json()["experiment"]["pauseReason"] == "turn_start"

    first = api.post("experiment/turn").json()
    second = api.post("experiment/status").json()

    assert (first["turn"], first["isComplete"]) == (1, False)
    assert [message["model"] for message in first["newMessages"]] == ["A", "B"]
    assert second["turn"]["isExperimentComplete"]
    assert len(second["turn"]["messages"]) == 2
