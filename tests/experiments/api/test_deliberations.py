"""Councils and debates over HTTP: the ranking, the next question, drafts and limits that are lifted."""

from experiments.models import Run, Step
from tests.experiments.reports import deliberations
from tests.experiments.reports.deliberations import counted


def test_the_ranking_is_the_latest_count_with_every_methods_values_and_order(api, alice, is_problem):
    record = deliberations.council(alice)
    run = record.run
    found = api.get(f"runs/{run.pk}/ranking/").json()

    assert found == api.get(f"runs/{run.pk}/ranking/", turn=1).json()
    assert (found["turn"], found["count"], found["ballots"], found["best"]) == (1, 1, 2, ["member-3"])
    standings = {one["seat"]: one for one in found["standings"]}
    assert standings["member-3"]["mean_rank"] == {"value": 1.25, "reason": ""}
    assert standings["member-2"]["bradley_terry"] == {"value": None, "reason": "winless"}
    assert standings["member-1"]["self_preference"] == {"value": None, "reason": "own_not_shown"}
    orders = {one["method"]: one["groups"] for one in found["orders"]}
    assert set(orders) == {"mean_rank", "borda", "copeland", "schulze", "kemeny", "bradley_terry"}
    assert orders["borda"] == [["member-3"], ["member-1"], ["member-2"]]
    assert orders["kemeny"] == [["member-1", "member-3"], ["member-2"]]
    assert not found["agree_on_winner"]
    assert found["abstained"] == [{"reviewer": "member-3", "reason": deliberations.NO_BALLOT}]
    assert found["kendalls_w"] == {"value": None, "reason": "incomplete_ballots"}
    assert found["krippendorff_alpha"] == {"value": 0.0, "reason": ""}
    assert found["position_effect"] == [{"place": 1, "mean": 1.75, "n": 2}, {"place": 2, "mean": 1.25, "n": 2}]

    again, path = counted(count=2, ballots=[], best=[], skipped="no_ballots"), f"runs/{run.pk}/ranking/"
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=again)
    found = api.get(path).json()
    assert (found["count"], found["skipped"], found["ballots"]) == (2, "no_ballots", 0)
    assert all(one["groups"] is None and one["reason"] == "no_comparisons" for one in found["orders"])
    is_problem(api.get(path, turn=2), 404)
    is_problem(api.get(f"runs/{deliberations.debate(alice).run.pk}/ranking/"), 404)
    is_problem(api.get(path, turn="first"), 400, "whole number")


def test_a_council_is_asked_further_in_words_while_it_listens(api, council, debate, start, nobody_is_woken, is_problem):
    run = start(council())
    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETED, stop_reason="your_turn")
    data = {"default": "", "actions": ["send", "deliberate"], "error": ""}
    Step.objects.create(run=run, key="turn/1/next", kind="offer", purpose="your_turn", turn=1, data=data)
    said, path = api.get(f"runs/{run.pk}/").json(), f"runs/{run.pk}/ask/"
    assert (said["state"], said["waiting_for"], said["mode"]) == ("completed", None, None)
    assert (said["offer"]["key"], said["offer"]["reason"]) == ("turn/1/next", "your_turn")
    assert "send" in said["offer"]["actions"]
    for body in ({"text": "  "}, {}, {"text": "a\x00"}):
        is_problem(api.post(path, body), 400, "text")
    is_problem(api.post(f"runs/{start(debate()).pk}/ask/", {"text": "And now?"}), 409)
    Run.objects.filter(pk=run.pk).update(origin=Run.Origin.IMPORTED)
    assert api.get(f"runs/{run.pk}/").json()["offer"] is None
    is_problem(api.post(path, {"text": "And now?"}), 409)
    is_problem(api.post(f"runs/{run.pk}/say/", {"key": "turn/1/next", "action": "deliberate"}), 409)
    Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPED, origin=Run.Origin.LIVE)
    is_problem(api.post(path, {"text": "And now?"}), 409, "ended")
    assert run.steps.get(key="turn/1/next").state == Step.State.OPEN

    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETED)
    asked = api.post(path, {"text": "And at sunset?"})
    assert (asked.status_code, asked.json()["state"]) == (200, "queued"), asked.content
    assert nobody_is_woken[-1] == run.pk
    assert [step.data["text"] for step in run.steps.filter(kind="offer")] == ["And at sunset?"]


def test_a_draft_is_kept_while_its_pause_is_open_and_not_said(api, debate, start, is_problem):
    run, path = start(debate()), "runs/{}/{}/"
    Run.objects.filter(pk=run.pk).update(state=Run.State.WAITING)
    data = {"default": "Share it.", "actions": ["send", "default"], "error": ""}
    step = Step.objects.create(run=run, key="prompt", kind="listen", purpose="final_prompt", turn=0, data=data)
    draft, kept = path.format(run.pk, "draft"), {"key": "prompt", "text": " Share it well.\n"}

    response = api.put(draft, kept)

    assert (response.status_code, response.json()) == (200, kept)
    step.refresh_from_db()
    assert (step.state, step.draft) == (Step.State.OPEN, " Share it well.\n")
    is_problem(api.put(draft, {"key": "round/9/next", "text": "x"}), 409)
    is_problem(api.put(draft, {"key": "prompt", "text": "\ud800"}), 400)
    api.post(path.format(run.pk, "say"), {"key": "prompt", "action": "send", "text": "Share it."})
    is_problem(api.put(draft, {"key": "prompt", "text": "x"}), 409, "another answer")
