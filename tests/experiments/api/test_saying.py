"""Answering a run's pauses over the API: once, where it waits, and nowhere else."""

import pytest

from experiments.models import Run
from tests.cases import each_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(arena, start, drive):
    """Waits for its first prompt."""
    begun = start(arena(mode="manual", max_turns=1))
    drive()
    return Run.objects.get(pk=begun.pk)


def waiting_for(api, run):
    return api.get(f"runs/{run.pk}/").json()["waiting_for"]


def test_what_is_waited_for_is_told_with_everything_that_would_be_sent(api, run, drive):
    asked = waiting_for(api, run)
    assert (asked["key"], asked["reason"], asked["seat"]) == ("turn/1/A/prompt", "turn_start", "A")
    assert {"send", "default", "skip", "next", "end"} <= set(asked["actions"])

    api.post(f"runs/{run.pk}/say/", {"key": asked["key"], "action": "default"})
    drive()

    sent = api.get(f"runs/{run.pk}/calls/").json()["results"][0]["request"]["messages"]
    assert sent == [{"role": "user", "content": asked["default"]}]


def test_the_second_tab_gets_a_conflict(api, run, drive, is_problem):
    said = {"key": waiting_for(api, run)["key"], "action": "default"}
    assert api.post(f"runs/{run.pk}/say/", said).status_code == 200

    is_problem(api.post(f"runs/{run.pk}/say/", {**said, "action": "send", "text": "Me too."}), 409)
    drive()
    assert run.messages.filter(seat="A").count() == 1


@each_case(
    ("said", "status"),
    [
        ({"key": "turn/1/B/prompt", "action": "default"}, 409),
        ({"key": "turn/1/A/prompt", "action": "regenerate"}, 400),
        ({"key": "turn/1/A/prompt", "action": "send", "text": "a\u0000b"}, 400),
        ({"key": "turn/1/A/prompt"}, 400),
        ({"action": "default"}, 400),
    ],
    ids=["other side", "not offered", "NUL", "no action", "no key"],
)
def test_what_makes_no_sense_here_is_refused_and_asks_nobody(api, run, drive, provider, is_problem, said, status):
    is_problem(api.post(f"runs/{run.pk}/say/", said), status)
    drive()

    assert provider.ledger() == []
    assert waiting_for(api, run)["key"] == "turn/1/A/prompt"


def test_a_run_whose_end_was_moved_is_played_on_by_itself_and_can_be_branched_and_judged_again(
    api, run, drive, is_problem
):
    path = f"runs/{run.pk}/"
    is_problem(api.post(f"{path}mode/", {"mode": "sideways"}), 400)
    assert api.post(f"{path}extend/", {"max_turns": 2}).status_code == 200
    assert api.post(f"{path}mode/", {"mode": "automatic"}).json()["mode"] == "automatic"
    drive()

    said = api.get(f"{path}messages/").json()["results"]
    assert [m["turn"] for m in said] == [1, 1, 2, 2]
    assert api.get(path).json()["state"] == "completed"
    is_problem(api.post(f"{path}mode/", {"mode": "manual"}), 409)
    is_problem(api.post(f"{path}pause/"), 409)

    branched = api.post(f"messages/{said[0]['id']}/branch/", {"text": "I give you all of it."})
    judged = api.post(f"{path}judge/", {"rubric": "Count the offers."})
    is_problem(api.post(f"messages/{said[0]['id']}/branch/", {"text": " "}), 400)
    assert (branched.status_code, judged.status_code) == (201, 201)
    made = branched.json()
    assert (made["origin"], made["parent"], made["branched_from"]) == ("branch", str(run.pk), said[0]["id"])
    assert (judged.json()["workflow"], judged.json()["parent"]) == ("judging", str(run.pk))


def test_a_queued_run_can_be_paused_and_says_so(api, arena, start, drive):
    run = start(arena(max_turns=1))
    assert api.post(f"runs/{run.pk}/pause/").json()["is_held"] is True
    drive()
    assert waiting_for(api, run)["reason"] == "paused"

    assert api.post(f"runs/{run.pk}/resume/").json()["is_held"] is False
    drive()
    assert api.get(f"runs/{run.pk}/").json()["state"] == "completed"
