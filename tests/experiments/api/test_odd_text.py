"""Text in any script goes through unchanged, to the provider and back."""

import pytest

from experiments.models import Run

pytestmark = pytest.mark.django_db

ODD = "שלום \u200fمرحبا 👩‍👩‍👧‍👦 漢字 \u202e e\u0301 <script>alert(1)</script> \ufeff end\r\n\t "


@pytest.mark.databases
def test_a_prompt_in_any_script_reaches_the_provider_as_it_was_typed(api, body, drive, provider):
    body["config"] |= {"prompt": ODD, "max_turns": 1, "filter": False, "judge": False}
    created = api.post("experiments/", body).json()
    api.post(f"experiments/{created['id']}/start/", {"seed": 1})
    drive()

    run = Run.objects.get()
    assert run.state == "completed"
    assert run.calls.first().request["messages"][0]["content"].startswith(ODD)
    assert api.get(f"experiments/{created['id']}/").json()["config"]["prompt"] == ODD


def test_what_models_say_in_any_script_is_kept_and_answered_as_it_is(api, arena, start, drive, scripted):
    said = ODD.replace("\r\n\t ", "")
    run = start(arena(scripted.model("scripted/odd", [said[:7], said[7:]]), judge=False, filter=False, max_turns=1))
    drive()

    response = api.get(f"runs/{run.pk}/messages/")
    [message, _] = response.json()["results"]
    assert message["raw_text"] == message["text"] == said
    assert response["Content-Type"] == "application/json"
    assert said in str([m["content"] for m in run.calls.get(step__key="turn/1/B").request["messages"]][1])
