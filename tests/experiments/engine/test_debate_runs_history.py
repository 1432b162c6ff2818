"""Debates that have been held are all there, are read and not changed, and are nobody else's."""

import pytest
from django.urls import reverse

from accounts.tokens import create_token
from experiments.models import Event, Message, ProviderModel, Run, Step
from tests.experiments.api.conftest import Api
from tests.experiments.debating import message, pause

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
def api(alice):
    return Api(create_token(alice))


@pytest.fixture
def charlies(charlie):
    return Api(create_token(charlie))


def everything(run):
    return [list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Message, Event)]


def test_no_debate_is_lost_however_many_there_are(stage, api):
    for number in range(4):
        stage.play(prompt=f"How should we share {number + 1} telescopes?")

    listed = api.get("runs/", workflow="debate", state="completed").json()["results"]
    assert len(listed) == 4
    assert len(api.get("runs/", workflow="debate", search="3 telescopes").json()["results"]) == 1


def test_a_debate_whose_summary_failed_is_not_among_the_completed(stage, api):
    stage.play(summarizer=[404])

    assert api.get("runs/", workflow="debate", state="completed").json()["results"] == []
    assert len(api.get("runs/", workflow="debate", state="failed").json()["results"]) == 1


def test_a_record_of_a_debate_played_elsewhere_is_only_read(stage, api, client, alice):
    run = stage.play()
    Run.objects.filter(pk=run.pk).update(origin=Run.Origin.IMPORTED)
    ProviderModel.objects.update(is_active=False)
    before, said = everything(run), {"key": "summary/next", "action": "summarize", "text": "Once more."}
    here, final = f"runs/{run.pk}", message(run, "prompt/final")
    answers = [
        api.post(f"{here}/say/", said),
        api.post(f"{here}/say/", {"key": "prompt", "action": "send", "text": "Other."}),
        api.post(f"{here}/say/", {"key": "round/1/next", "action": "round", "text": "Other."}),
        api.post(f"{here}/resume/"),
        api.post(f"{here}/pause/"),
        api.post(f"{here}/mode/", {"mode": "manual"}),
        api.post(f"{here}/extend/", {"max_turns": 9}),
        api.post(f"messages/{final.pk}/branch/", {"text": "Other."}),
    ]
    client.force_login(alice)
    drafted = client.post(reverse("run-draft", args=[run.pk]), {"key": "round/1/next", "text": "Other."})

    assert {answer.status_code for answer in [*answers, drafted]} <= {403, 409}
    assert everything(run) == before
    assert api.get(f"{here}/messages/").status_code == 200


def test_what_was_said_at_a_pause_is_a_conflict_for_whoever_comes_later(stage, api):
    run = stage.say(stage.say(stage.play(mode="manual"), "default"), "round", "Ten nights.")
    late = {"key": "round/1/next", "action": "round", "text": "Twelve nights."}

    assert api.post(f"runs/{run.pk}/say/", late).status_code == 409
    assert run.messages.get(step__key="addendum").text == "Ten nights."


def test_somebody_elses_debate_is_not_there(stage, charlies):
    run = stage.say(stage.play(mode="manual"), "default")
    here, final = f"runs/{run.pk}", message(run, "prompt/final")
    answers = [
        *(charlies.get(f"{here}/{part}") for part in ("", "messages/", "events/", "calls/")),
        *(charlies.post(f"{here}/{verb}/") for verb in ("stop", "pause", "resume")),
        charlies.post(f"{here}/say/", {"key": "round/1/next", "action": "round"}),
        charlies.post(f"{here}/mode/", {"mode": "automatic"}),
        charlies.post(f"messages/{final.pk}/branch/", {"text": "Mine."}),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert charlies.get("runs/", workflow="debate").json()["results"] == []
    assert pause(run).key == "round/1/next"


@pytest.mark.parametrize("name", ["run", "run-draft", "run-lift"])
def test_somebody_elses_debate_has_no_page(stage, client, charlie, name):
    run = stage.play(mode="manual")
    client.force_login(charlie)
    url = reverse(name, args=[run.pk])

    assert (client.get(url) if name == "run" else client.post(url, {"key": "prompt"})).status_code == 404
