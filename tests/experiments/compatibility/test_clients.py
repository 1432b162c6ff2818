"""Clients of LLM Council, of StarChamber, of LLM Arena and of the assistant, each in its own shapes."""

import json

import pytest
from asgiref.sync import async_to_sync

from accounts.tokens import create_token
from experiments.api.compatibility.council import Telling
from experiments.models import ClientTalk, ProviderModel, Run
from tests.experiments.api.conftest import Api
from tests.fixtures import add_model
from tests.making import maker

STAGES = ["stage1_start", "stage1_complete", "stage2_start", "stage2_complete", "stage3_start", "stage3_complete"]


def frames(lines):
    """(id, event) of every event in the text of a stream."""
    found = [frame.split("\n") for frame in lines if frame.startswith("id: ")]
    return [(head.removeprefix("id: "), json.loads(data.removeprefix("data: "))) for head, data, *_ in found]


@maker
def concluded(council, start, drive, alice, /, *members, **config):
    """A conversation of Alice's whose first question is answered."""
    run = start(council(*members, **config))
    drive()
    return ClientTalk.objects.create(owner=alice, system="council", run=run)


@pytest.mark.databases
def test_questions_are_answered_in_three_stages_by_the_same_council(api, models, driven):
    made = api.post("conversations", {}).json()
    id_ = made["id"]
    assert (made["title"], made["messages"]) == ("New Conversation", [])
    assert api.get(f"conversations/{id_}").json() == made
    [listed] = api.get("conversations").json()
    assert (listed["id"], listed["message_count"]) == (id_, 0)
    assert api.get(f"conversations/{id_}/message/stream").status_code == 409
    for end in ("message", "message/stream"):
        assert api.post(f"conversations/{id_}/{end}", {"content": ""}).status_code == 400

    answer = api.post(f"conversations/{id_}/message", {"content": "Why is the sky blue?"})

    said = answer.json()
    assert answer.status_code == 200
    assert [one["model"] for one in said["stage1"]] == sorted(models)
    assert all(one["response"] for one in said["stage1"])
    labels = said["metadata"]["label_to_model"]
    assert list(labels) == ["Response A", "Response B", "Response C"]
    assert all(set(one["parsed_ranking"]) <= set(labels) for one in said["stage2"])
    ranks = [one["average_rank"] for one in said["metadata"]["aggregate_rankings"]]
    assert ranks == sorted(ranks)
    assert said["stage3"]["response"]
    first, second = api.get(f"conversations/{id_}").json()["messages"]
    assert first == {"role": "user", "content": "Why is the sky blue?"}
    assert second == {"role": "assistant", **said}, "nothing of it is lost on the way"

    twice = [api.post(f"conversations/{id_}/message", {"content": "And the sea?"}, Idempotency_Key="q") for _ in "ab"]
    assert twice[0].json() == twice[1].json()
    assert [m["role"] for m in api.get(f"conversations/{id_}").json()["messages"]] == ["user", "assistant"] * 2
    assert ClientTalk.objects.get().run.experiment.runs.count() == 1


def test_everybody_s_labels_are_those_that_the_client_shows(concluded, api):
    talk = concluded(own_answers="excluded")
    run = talk.run

    [_asked, said] = api.get(f"conversations/{talk.pk}").json()["messages"]

    slugs = dict(run.experiment.participants.values_list("seat", "model__slug"))
    shared = said["metadata"]["label_to_model"]
    for ballot, row in zip(run.ballots.order_by("turn", "count", "reviewer", "id"), said["stage2"], strict=True):
        order = [slugs[seat] for group in ballot.order for seat in group]
        assert [shared[label] for label in row["parsed_ranking"]] == order
        original = run.messages.get(step__purpose="review", seat=ballot.reviewer).raw_text
        assert row["ranking"]
        for own, seat in ballot.labels.items():
            theirs = next(label for label, model in shared.items() if model == slugs[seat])
            assert original.count(own) == row["ranking"].count(theirs) or original.lstrip().startswith("{")


def streamed(answer):
    """(id, event) of all that an answer tells."""

    async def parts():
        return [part.decode() async for part in answer]

    assert answer["Content-Type"] == "text/event-stream"
    return frames(async_to_sync(parts)())


def test_the_stream_tells_the_stages_in_order_and_whoever_was_cut_off_reads_on(api, models, driven):
    address = f"conversations/{api.post('conversations', {}).json()['id']}"
    events = streamed(api.post(f"{address}/message/stream", {"content": "Why is the sky blue?"}))

    told = {event["type"]: event for _id, event in events}
    assert [kind for kind in told if kind != "title_complete"] == [*STAGES, "complete"]
    assert events[-1][1] == {"type": "complete"}
    conversation = api.get(address).json()
    assert conversation["messages"][1]["stage3"] == told["stage3_complete"]["data"]
    assert conversation["title"] == told["title_complete"]["data"]["title"]
    api.headers["Accept"] = "text/event-stream"
    for place, (id_, _event) in enumerate([("no number", None), *events]):
        api.headers["Last-Event-ID"] = id_
        assert streamed(api.get(f"{address}/message/stream")) == events[place:]


def test_one_survivor_is_not_ranked_and_a_council_in_which_nobody_answers_is_an_error(concluded, api, woken_runs):
    down = add_model("sim/neutral:fail=401").slug
    survived = concluded("sim/cooperative:first=0:words=12", down)
    talk = concluded(down, down, chair=down)

    alone, nobody = (Telling(one.run.pk, 1).more() for one in (survived, talk))

    kinds = [[event["type"] for _id, event in frames(told)] for told, _is_all in (alone, nobody)]
    assert kinds[0] == [*STAGES[:2], *STAGES[4:], "complete"]
    assert (kinds[1], nobody[1]) == (["stage1_start", "error"], True)
    assert [m["role"] for m in api.get(f"conversations/{talk.pk}").json()["messages"]] == ["user"]
    assert api.post(f"conversations/{talk.pk}/message", {"content": "Again?"}).status_code == 409

    [_asked, said] = api.get(f"conversations/{concluded(chair=down).pk}").json()["messages"]
    assert said["stage3"]["by_rank"], "where no chair concluded, it is marked"
    assert said["stage3"]["response"] in [one["response"] for one in said["stage1"]]


def test_whoever_has_no_token_or_one_that_may_not_is_told_what_is_missing_and_a_token_may_come_as_an_api_key(
    alice, models
):
    client = Api()
    answer = client.send("POST", "experiment/start")

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"]
    assert "token" in answer.json()["detail"]
    assert answer.json()["error"] == answer.json()["detail"]
    assert {"status", "services", "ok", "service", "timestamp"} <= set(client.get("health").json())
    for key, status in ((create_token(alice), 200), ("alab_wrong", 401)):
        client.headers = {"X-API-Key": key}
        assert client.get("llm/models").status_code == status

    stream = "conversations/01a2017a-8bc0-72c0-9175-cb3ee99acb82/message/stream"
    for method, scope, *paths in (
        ("POST", "spend", "experiment/start", "experiment/turn", "llm/test", stream),
        ("POST", "write", "conversations", "starchamber/stop"),
        ("GET", "read", "models", "subsets"),
    ):
        without = Api(create_token(alice, scopes={"read", "write", "spend", "review", "admin"} - {scope}))
        for path in paths:
            answer = without.send(method, path)
            assert (answer.status_code, f"scope “{scope}”" in answer.json()["detail"]) == (403, True), path


def test_what_somebody_has_begun_is_found_by_nobody_else_and_an_id_that_is_none_not_at_all(api, charlies, models):
    talk = api.post("starchamber/start", {"model": {"modelId": models[0]}, "firstMessage": "Hello"}).json()

    assert charlies.get("starchamber/status", experimentId=talk["experimentId"]).status_code == 404
    said = {"experimentId": talk["experimentId"], "message": "Hello"}
    assert charlies.post("starchamber/turn", said).status_code == 404
    assert charlies.post("starchamber/stop", said).json() == {"success": True}
    for nothing in ("", "sc_nothing", "exp_01a2017a8bc072c09175cb3ee99acb82"):
        assert api.post("starchamber/stop", {"experimentId": nothing}).json() == {"success": True}
        assert api.get("starchamber/status", experimentId=nothing).status_code == 404, nothing
    api.post("conversations", {})
    assert charlies.get("conversations").json() == []
    assert ClientTalk.objects.get(system="starchamber").run.state == "queued"


def test_models_are_listed_for_clients_the_labs_default_first_and_one_made_for_one_task_last(api, models):
    first, task = add_model("sim/zebra"), add_model("sim/a-coder")
    first.default_for = ["arena/A"]
    first.save()
    slugs = [first.slug, *sorted(models), task.slug]

    answer = api.get("models", available="true").json()

    assert [model["id"] for model in answer["models"]] == slugs
    assert {row["id"]: row["available"] for row in answer["availability"]} == dict.fromkeys(slugs, True)
    assert sorted(row["slug"] for row in answer["results"]) == sorted(slugs)
    assert api.get("models/").json()["results"], "ours is where it was"


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
        ("experiment/start", arena_body, (*seats, *words)),
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
