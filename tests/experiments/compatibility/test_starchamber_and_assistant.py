"""Clients of StarChamber, of LLM Arena and of the assistant, each in its own shapes."""

import pytest

from experiments.models import ClientTalk, ProviderModel, Run
from tests.fixtures import add_model

CANARY = "sk-or-canary-0123456789abcdef"


def begin(api, model, **more):
    asked = {"model": {"modelId": model, "modelName": "?", "apiKey": CANARY}, "firstMessage": "Who are you?", **more}
    answer = api.post("starchamber/start", asked)
    assert answer.status_code == 200, answer.content
    return answer.json()["experimentId"]


def status_when_waiting(api, talk, driven):
    driven()
    status = api.get("starchamber/status", experimentId=talk).json()
    assert status["waitingForResearcher"]
    return status


def test_a_talk_from_its_first_word_to_its_end(api, models, driven, everything):
    talk = begin(api, models[0], systemContext="Be brief.", researcherPersona="Dr. Vega", requestLogprobs=True)
    first = status_when_waiting(api, talk, driven)

    turn = api.post("starchamber/turn", {"experimentId": talk, "message": "Why?"}, Idempotency_Key="t")
    again = api.post("starchamber/turn", {"experimentId": talk, "message": "Why?"}, Idempotency_Key="t")
    stopped = api.post("starchamber/stop", {"experimentId": talk})

    named = [(said["role"], said["senderName"], said["turnNumber"]) for said in first["conversation"]]
    assert named == [("researcher", "Dr. Vega", 1), ("model", models[0], 1)]
    [alternative, *_others] = first["conversation"][1]["logprobs"]["tokens"][0]["topAlternatives"]
    assert set(alternative) == {"token", "logprob", "probability"}
    assert first["conversation"][1]["logprobs"]["available"] in {True, False}
    assert turn.json()["success"]
    assert turn.json()["response"]["turn"] == 2
    assert again.json()["response"] == turn.json()["response"]
    assert stopped.json() == {"success": True}
    run = ClientTalk.objects.get().run
    assert (run.experiment.workflow, run.experiment.config["persona"]) == ("starchamber", "Dr. Vega")
    assert run.messages.filter(seat="researcher").count() == 2
    assert CANARY not in everything()
    assert api.post("starchamber/turn", {"experimentId": talk, "message": "And?"}).status_code == 409


def test_nobody_speaks_while_the_model_does_and_that_it_fails_is_told_as_an_error(api, driven):
    failing = add_model("sim/neutral:fail=401").slug
    talk = begin(api, failing)
    early = api.post("starchamber/turn", {"experimentId": talk, "message": "Why?"})
    assert early.status_code == 409
    assert "still answering" in early.json()["error"]
    status = status_when_waiting(api, talk, driven)
    assert status["error"]
    assert [said["model"] for said in status["conversation"]] == ["researcher"]

    answer = api.post("starchamber/turn", {"experimentId": talk, "message": "Again?"})
    role = api.post("llm/test", {"role": "refiner", "prompt": "A question", "model": failing})

    assert (answer.status_code, role.status_code) == (502, 502)
    assert answer.json()["error"]
    assert (role.json()["ok"], bool(role.json()["error"])) == (False, True)
    run = Run.objects.exclude(pk=ClientTalk.objects.get(system="starchamber").run_id).get()
    assert run.is_over or run.state == "stopping"


def test_what_cannot_be_begun_is_refused(api, models, arena_body):
    talk, role = {"model": {"modelId": models[0]}, "firstMessage": "Hello"}, {"role": "refiner", "prompt": "A question"}
    seats = ({"maxTurns": 0}, {"modelA": ""}, {"modelB": "nobody"})
    words = ({"sharedPrompt": " "}, {"promptingMode": "individual"})
    for path, whole, cases in (
        ("starchamber/start", talk, ({"model": {}}, {"firstMessage": "  "}, {"model": {"modelId": "nobody"}})),
        ("llm/test", role, ({"role": "poet"}, {"prompt": ""}, {"model": "vendor/any-name"})),
        (
            "experiment/start",
            arena_body,
            (*seats, *words),
        ),
    ):
        for wrong in cases:
            answer = api.post(path, {**whole, **wrong})
            assert answer.status_code == 400, wrong
            assert answer.json()["errors"], wrong
            assert answer.json().get("ok") is (False if path == "llm/test" else None), wrong
    assert not ClientTalk.objects.exists()
    assert not Run.objects.exists()


def test_a_role_answers_a_prompt_once_under_one_key(api, models, driven):
    asked = {"role": "debater_b", "prompt": "Share one telescope.", "model": models[1], "allowFallback": True}

    answer, again = (api.post("llm/test", {**asked, "temperature": 0.2}, Idempotency_Key="s").json() for _ in "ab")

    data = answer["data"]
    assert again == answer
    assert (answer["ok"], data["role"], data["model"]) == (True, "debater_b", models[1])
    assert data["content"]
    run = Run.objects.get()
    request = run.calls.get().request
    assert (str(run.pk), request["max_tokens"], request["temperature"]) == (data["runId"], 800, 0.2)
    assert "debater B" in request["messages"][0]["content"]
    assert "Share one telescope." in request["messages"][1]["content"]
    assert (run.state, run.experiment.title) == ("completed", "Share one telescope.")

    own = {"role": "refiner", "prompt": "A question", "systemPrompt": "Answer in one word.", "model": models[0]}
    run = Run.objects.get(pk=api.post("llm/test", own).json()["data"]["runId"])
    assert [m["content"] for m in run.calls.get().request["messages"]] == ["Answer in one word.", "A question"]

    data = api.get("llm/models").json()["data"]
    assert data["roles"] == ["refiner", "debater_a", "debater_b", "debater_c", "summarizer"]
    assert set(data["effectiveRoleModels"]) == set(data["roles"])
    assert sorted(data["availableModels"]) == sorted(models)


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
def test_turns_are_read_as_the_client_writes_them_and_the_status_tells_what_was_said_and_found_and_no_key(
    api, arena_body, drive, everything
):
    for sent, played in ((-1, None), ("7", 7), ("many", 30)):
        started(api, {**arena_body, "maxTurns": sent})
        assert ClientTalk.objects.get(run__state="queued").run.experiment.config["max_turns"] == played
        api.post("experiment/stop")
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


def test_nothing_is_steered_where_nothing_runs_and_a_stop_may_be_asked_for_twice_and_for_nothing(api, arena_body):
    assert api.post("experiment/manual-continue", {"targetModel": "A"}).status_code == 400
    assert api.post("experiment/turn").status_code == 400
    assert api.post("experiment/status").status_code == 409
    nothing = api.post("experiment/stop")
    started(api, arena_body)
    assert api.post("experiment/next-turn").status_code == 400, "is in automatic mode"

    first, second = api.post("experiment/stop"), api.post("experiment/stop")

    assert [answer.status_code for answer in (nothing, first, second)] == [200, 200, 200]
    assert nothing.json()["finalState"]["totalTurns"] == 0
    assert second.json()["finalState"]["endTime"]
    assert api.post("experiment/start", arena_body).status_code == 200


def test_turns_by_hand_and_whole_ones_in_one_request(api, arena_body, driven):
    """A client in manual mode: A with words of its own, B as it stands, then the next turn, and the last one."""
    started(api, {**arena_body, "experimentMode": "manual", "maxTurns": 3})
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

    second = api.post("experiment/turn").json()
    third = api.post("experiment/status").json()["turn"]

    assert (second["turn"], second["isComplete"]) == (2, False)
    assert [message["model"] for message in second["newMessages"]] == ["A", "B"]
    assert (third["isExperimentComplete"], len(third["messages"])) == (True, 2)
