"""LLM Council's client: conversations, the three stages in its own shapes, and the stream of what happens."""

import json

import pytest

from experiments.compatibility.council_stream import Telling
from experiments.models import ClientTalk
from tests.fixtures import add_model

pytestmark = pytest.mark.databases
STAGES = ["stage1_start", "stage1_complete", "stage2_start", "stage2_complete", "stage3_start", "stage3_complete"]


def opened(api):
    return api.post("conversations", {}).json()["id"]


def frames(lines):
    """(id, event) of every event in the text of a stream."""
    found = [frame.split("\n") for frame in lines if frame.startswith("id: ")]
    return [(head.removeprefix("id: "), json.loads(data.removeprefix("data: "))) for head, data, *_ in found]


@pytest.fixture
def concluded(council, start, drive, alice):
    """A conversation of Alice's whose first question is answered."""

    def ask(*members, **config):
        run = start(council(*members, **config))
        drive()
        return ClientTalk.objects.create(owner=alice, system="council", run=run)

    return ask


def test_an_empty_conversation_is_there_before_anything_is_asked(api):
    made = api.post("conversations", {}).json()

    assert (made["title"], made["messages"]) == ("New Conversation", [])
    assert api.get(f"conversations/{made['id']}").json() == made
    [listed] = api.get("conversations").json()
    assert (listed["id"], listed["message_count"]) == (made["id"], 0)
    assert api.get(f"conversations/{made['id']}/message/stream").status_code == 409


def test_a_question_is_answered_in_three_stages(api, models, driven):
    id_ = opened(api)

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


def test_a_second_question_goes_on_with_the_same_council(api, driven):
    id_ = opened(api)
    api.post(f"conversations/{id_}/message", {"content": "Why is the sky blue?"})

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


def test_the_stream_tells_the_stages_in_order(concluded):
    talk = concluded(title=True)

    told = Telling(talk.run.pk, 1).more()

    kinds = [event["type"] for _id, event in frames(told[0])]
    assert [kind for kind in kinds if kind != "title_complete"] == [*STAGES, "complete"]
    assert "title_complete" in kinds
    assert told[1]


def test_whoever_was_cut_off_reads_on_behind_the_last_event(concluded):
    talk = concluded()
    all_of_it = frames(Telling(talk.run.pk, 1).more()[0])

    for place, (id_, _event) in enumerate(all_of_it, 1):
        assert frames(Telling(talk.run.pk, 1, last=id_).more()[0]) == all_of_it[place:]
    assert frames(Telling(talk.run.pk, 1, last="no number").more()[0]) == all_of_it


def test_a_council_in_which_nobody_answers_is_an_error_and_no_answer(concluded, api, quiet_doorbell):
    down = add_model("sim/neutral:fail=401").slug
    talk = concluded(down, down, chair=down)

    told, is_all = Telling(talk.run.pk, 1).more()

    kinds = [event["type"] for _id, event in frames(told)]
    assert (kinds, is_all) == (["stage1_start", "error"], True)
    assert [m["role"] for m in api.get(f"conversations/{talk.pk}").json()["messages"]] == ["user"]
    assert api.post(f"conversations/{talk.pk}/message", {"content": "Again?"}).status_code == 409


def test_a_conclusion_that_no_chair_gave_is_marked(concluded, api):
    talk = concluded(chair=add_model("sim/neutral:fail=401").slug)

    [_asked, said] = api.get(f"conversations/{talk.pk}").json()["messages"]

    assert said["stage3"]["by_rank"]
    assert said["stage3"]["response"] in [one["response"] for one in said["stage1"]]


def test_one_survivor_is_not_ranked(concluded):
    down = add_model("sim/neutral:fail=401").slug
    talk = concluded("sim/cooperative:first=0:words=12", down)

    kinds = [event["type"] for _id, event in frames(Telling(talk.run.pk, 1).more()[0])]

    assert kinds == ["stage1_start", "stage1_complete", "stage3_start", "stage3_complete", "complete"]


def test_an_empty_question_is_refused(api):
    id_ = opened(api)

    assert api.post(f"conversations/{id_}/message", {"content": ""}).status_code == 400
    assert api.post(f"conversations/{id_}/message/stream", {}).status_code == 400
