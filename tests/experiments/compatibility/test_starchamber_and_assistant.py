"""StarChamber's client talks with one model; the assistant's asks one role at a time."""

from experiments.models import ClientTalk, Run
from tests.cases import each_case
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
    talk = begin(api, add_model("sim/neutral:fail=401").slug)
    early = api.post("starchamber/turn", {"experimentId": talk, "message": "Why?"})
    assert early.status_code == 409
    assert "still answering" in early.json()["error"]
    status = status_when_waiting(api, talk, driven)

    answer = api.post("starchamber/turn", {"experimentId": talk, "message": "Again?"})

    assert status["error"]
    assert [said["model"] for said in status["conversation"]] == ["researcher"]
    assert answer.status_code == 502
    assert answer.json()["error"]


@each_case("wrong", [{"model": {}}, {"firstMessage": "  "}, {"model": {"modelId": "nobody"}}], ids=str)
def test_a_talk_without_a_model_or_a_word_is_refused(api, models, wrong):
    asked = {"model": {"modelId": models[0]}, "firstMessage": "Hello", **wrong}

    assert api.post("starchamber/start", asked).status_code == 400
    assert not ClientTalk.objects.exists()


@each_case("talk", ["", "sc_nothing", "exp_01a2017a8bc072c09175cb3ee99acb82"])
def test_an_id_that_is_none_is_not_found(api, talk):
    assert api.post("starchamber/stop", {"experimentId": talk}).json() == {"success": True}
    assert api.get("starchamber/status", experimentId=talk).status_code == 404


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


def test_a_role_whose_model_fails_answers_with_an_error(api, driven):
    answer = api.post("llm/test", {"role": "refiner", "prompt": "A question", "model": add_model("x:fail=401").slug})

    assert answer.status_code == 502
    assert (answer.json()["ok"], bool(answer.json()["error"])) == (False, True)
    assert Run.objects.get().is_over or Run.objects.get().state == "stopping"


@each_case("wrong", [{"role": "poet"}, {"prompt": ""}, {"model": "vendor/any-name"}], ids=str)
def test_what_no_role_can_answer_is_refused(api, models, wrong):
    answer = api.post("llm/test", {"role": "refiner", "prompt": "A question", **wrong})

    assert answer.status_code == 400
    assert answer.json()["ok"] is False
    assert not Run.objects.exists()


def test_the_roles_have_models(api, models):
    data = api.get("llm/models").json()["data"]

    assert data["roles"] == ["refiner", "debater_a", "debater_b", "debater_c", "summarizer"]
    assert set(data["effectiveRoleModels"]) == set(data["roles"])
    assert sorted(data["availableModels"]) == sorted(models)
