"""LLM Council's client: conversations, the three stages and their stream; and whom the routes of clients let in."""

import json

import pytest
from asgiref.sync import async_to_sync

from accounts.tokens import create_token
from experiments.api.compatibility.council import Telling
from experiments.models import ClientTalk
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
