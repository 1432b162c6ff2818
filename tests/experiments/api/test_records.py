"""What was said and found in a run, read over HTTP."""

import pytest

from experiments.models import Event, Run


def rows(api, run, what, **params):
    """All rows, through pages of three."""
    found, response = [], api.get(f"runs/{run.pk}/{what}/", page_size=3, **params)
    while True:
        page = response.json()
        found += page["results"]
        if page["next"] is None:
            return found
        response = api.client.get(page["next"], headers=api.headers)


@pytest.mark.databases
def test_a_run_is_read_in_the_order_it_was_played(api, played):
    run = played()
    said, judged, calls = (rows(api, run, what) for what in ("messages", "judgments", "calls"))

    assert [(m["turn"], m["seat"]) for m in said] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert [(j["turn"], j["subject"]) for j in judged] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    steps = ("A", "A/filter", "B", "B/filter", "judge")
    assert [call["step"] for call in calls] == [f"turn/{turn}/{step}" for turn in (1, 2) for step in steps]
    assert rows(api, run, "events") == [event.envelope for event in Event.objects.filter(run=run)]
    for after in (0, 1, run.last_seq - 1, run.last_seq, run.last_seq + 5):
        seqs = [event["seq"] for event in rows(api, run, "events", after=after)]
        assert seqs == list(range(after + 1, run.last_seq + 1))

    report = api.get(f"runs/{run.pk}/report/", format="json").json()
    assert (report["messages"], report["judgments"], report["calls"]) == (said, judged, calls)


def test_of_a_run_that_has_not_begun_lists_and_report_are_empty_and_not_wrong(api, arena, start):
    run = start(arena())
    report = api.get(f"runs/{run.pk}/report/").json()

    assert [rows(api, run, what) for what in ("messages", "judgments", "calls")] == [[], [], []]
    assert [event["type"] for event in rows(api, run, "events")] == ["experiment_created"]
    assert (report["run"]["state"], report["messages"], report["judgments"], report["calls"]) == ("queued", [], [], [])


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
