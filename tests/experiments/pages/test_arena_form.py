"""Setting up an arena run: the form as it is shown, its finer settings, what is wrong, and runs set up again."""

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.models import Experiment, ModelPrice, ProviderModel, Run
from experiments.runs import actions
from tests.fixtures import add_model
from tests.making import maker
from tests.markup import squeezed

ADDRESS = "/arena/"
TYPED = {"title": "Panels of Üsküdar", "prompt": "Share “seven” <b>panels</b> & nothing.\nBe fair."}
NOTE = {"kind": "note", "side": "B", "turn": 2, "text": "Be brief.\nPlease."}


@pytest.fixture
def models(provider):
    return [add_model("sim/cooperative:first=0", label="Anna"), add_model("sim/neutral:first=0", label="Nora")]


@pytest.fixture
def filled(browser, models, read):
    return {**read(browser.get(ADDRESS)).form(id="setup"), **TYPED}


def test_seats_begin_with_general_models_and_later_with_those_used_last(send, browser, models, read):
    add_model("a/coder-1")
    add_model("a/qwen-coder")
    for path, seats in (("/debate/", "AB"), ("/starchamber/", ["model"]), (ADDRESS, "AB")):
        shown = read(browser.get(path)).form(id="setup")
        assert {shown[f"seat-{seat}-model"] for seat in seats} <= {model.slug for model in models}, path

    add_model("sim/off", is_active=False)
    [speaker] = read(browser.get(ADDRESS)).find("select", name="seat-A-model")
    offered = {option.get("value") for option in speaker.iter("option")}
    assert offered == {*(m.slug for m in models), "a/coder-1", "a/qwen-coder"}, "judges do not speak"
    used = {"seat-A-model": models[1].slug, "seat-B-model": "a/coder-1"}
    send(**used)
    assert used.items() <= read(browser.get(ADDRESS)).form(id="setup").items()


def test_where_a_prompt_or_models_are_missing_or_no_run_may_start_nothing_is_left_behind(send, arena, browser, read):
    own = {"prompting": "individual", "prompt": "", "prompts-A": "Win."}
    refused = read(send(**own, **{"prompts-B": " "}))
    assert "Model B are empty" in refused.by_id("id_prompts-B-error").text
    assert [refused.by_id(f"id_prompts-{side}").get("aria-invalid") for side in "AB"] == [None, "true"]
    assert not Experiment.objects.exists()

    send(**own, **{"prompts-B": "Yield."})
    config = Experiment.objects.get().config
    assert (config["prompting"], config["prompts"]) == ("individual", {"A": "Win.", "B": "Yield."})

    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(actions.MOST_LIVE_RUNS))

    response = send()

    assert response.status_code == 403
    assert "200 live runs" in read(response).text
    assert Experiment.objects.count() == 2

    ProviderModel.objects.update(is_default_judge=False)
    assert "no default model" in read(send()).by_id("id_seat-judge-model-error").text
    ProviderModel.objects.update(is_active=False)
    assert "No model is usable" in read(browser.get(ADDRESS)).text


@maker
def send(browser, filled, /, **changes):
    """Sends the form as it is filled, with some changes; None leaves a field out."""
    sent = {**filled, **changes}
    return browser.post(ADDRESS, {name: value for name, value in sent.items() if value is not None})


def row(number, **parts):
    return {f"interventions-{number}-{part}": str(value) for part, value in parts.items()}


def test_what_is_wrong_with_a_row_is_said_at_the_row_and_everything_is_kept(send, read):
    wrong = [{"turn": "0"}, {"text": ""}, {"kind": "x"}]
    rows = {name: value for n, changes in enumerate(wrong, 1) for name, value in row(n, **{**NOTE, **changes}).items()}
    response = send(**row(0, **NOTE), **rows)

    page = read(response)
    assert response.status_code == 422
    for number, words in enumerate(("greater than or equal to 1", "is empty", "should be"), 1):
        assert words in page.by_id(f"interventions-{number}-error").text
        assert words in page.find(role="alert")[0].text
    assert page.find(id="interventions-0-error") == []
    form = page.form(id="setup")
    assert {part: form[f"interventions-0-{part}"] for part in NOTE} == {k: str(v) for k, v in NOTE.items()}
    assert [form[f"interventions-{number}-turn"] for number in (1, 2, 3)] == ["0", "2", "2"]
    planned = row(0, **{**NOTE, "kind": "friend"})
    assert read(send(**planned)).by_id("id_seat-friend-model-error").text, "somebody has to be the friend"
    assert Experiment.objects.count() == 0
    send(**{"seat-friend-model": "sim/neutral:first=0"}, **planned)
    assert Experiment.objects.get().participants.get(seat="friend").model.slug == "sim/neutral:first=0"


def test_repeats_start_as_many_runs_with_successive_seeds(send, read):
    for repeats in ("0", "51", "many"):
        refused = send(repeats=repeats)
        assert (refused.status_code, Run.objects.count()) == (422, 0)
        assert read(refused).by_id("id_repeats").get("aria-invalid") == "true"

    response = send(repeats="3", counterbalance="on")
    experiment = Experiment.objects.get()
    seeds = sorted(experiment.runs.values_list("seed", flat=True))
    assert seeds == list(range(seeds[0], seeds[0] + 3))
    assert response["Location"] == reverse("experiment", args=[experiment.pk])


def test_every_setting_is_heard_and_a_run_is_set_up_again_as_it_was(browser, read, send):
    blank = row(0, kind="note", side="A", turn="", text=" ")
    typed = {"mode": "manual", "first": "B", "filter": None, "system_prompt": "Be {MODEL}.\r\nCalm.", **blank}
    typed |= {"auto_advance": "on", "elicit_thinking": "on", "logprobs": "on", "when_empty": "stop"}
    typed |= {"counterbalance": "on", "judge_sees": "both", "judge_sees_interventions": None, "judge_seconds": "45"}
    typed |= {"judge_sees_reasoning": None, "max_turns-none": "on", "limits-tokens": "5000", "limits-cost": "0.25"}
    typed |= {"seat-A-model": "sim/neutral:first=0", "seat-A-temperature": "0.3", "seat-A-persona": "elder"}
    typed |= {"seat-B-seed": "-7", "seat-B-reasoning_effort": "high", "gap_seconds": "0.5"}
    send(**typed, **row(2, **{**NOTE, "text": "Be brief.\r\nPlease."}))
    before = Experiment.objects.get()
    heard = {"mode": "manual", "first": "B", "filter": False, "gap_seconds": 0.5, "system_prompt": "Be {MODEL}.\nCalm."}
    heard |= {"auto_advance": True, "elicit_thinking": True, "logprobs": True, "when_empty": "stop"}
    heard |= {"counterbalance": True, "judge_sees": "both", "judge_sees_interventions": False, "judge_seconds": 45}
    heard |= {"judge_sees_reasoning": False, "max_turns": None, "interventions": [NOTE]}
    assert {name: before.config[name] for name in heard} == heard, "blank rows are none"
    assert before.config["limits"] == {"tokens": 5000, "seconds": None, "cost": 0.25}
    assert Run.objects.get().mode == "manual"
    cast = {p.seat: (p.model.slug, p.persona, p.params) for p in before.participants.select_related("model")}
    assert cast["A"] == ("sim/neutral:first=0", "elder", {"temperature": 0.3})
    assert cast["B"][2] == {"seed": -7, "reasoning_effort": "high"}
    assert set(cast) == {"A", "B", "judge"}, "nobody is the friend unless chosen"

    browser.post(ADDRESS, read(browser.get(ADDRESS, {"clone": Run.objects.get().pk})).form(id="setup"))
    again = Experiment.objects.exclude(pk=before.pk).get()
    assert (again.config, again.title) == (before.config, before.title)
    assert {p.seat: (p.model.slug, p.persona, p.params) for p in again.participants.select_related("model")} == cast

    assert browser.get(ADDRESS, {"scenario": "no-such-scenario"}).status_code == 404
    ProviderModel.objects.filter(slug="sim/neutral:first=0").update(is_active=False)
    again.participants.filter(seat="B").update(params={"stop": ["END"]})
    page = read(browser.get(ADDRESS, {"clone": again.runs.get().pk}))
    assert "Not available: sim/neutral:first=0." in page.text
    assert "Not carried over for Model B: stop." in page.text


def test_the_estimate_says_what_a_form_may_cost_also_an_unfinished_one(browser, filled):
    address = reverse("arena-estimate")
    unpriced = browser.post(address, filled).content.decode()
    assert "25 calls" in unpriced
    assert "unknown price of Anna, Nora" in unpriced
    assert "$" not in unpriced

    for model in ProviderModel.objects.all():
        ModelPrice.objects.create(model=model, since=timezone.now(), input="0.000001", output="0.000002")
    html = browser.post(address, {**filled, "repeats": "4"}).content.decode()
    assert "<b>100 calls</b>" in html
    assert html.count('class="number">$') == 2, "typically, and at most"
    for changes, said in (
        ({"max_turns": "x", "gap_seconds": "y", "repeats": "", "prompt": ""}, "25 calls"),
        ({"max_turns": "101", "limits-cost": "-1"}, "25 calls"),
        ({"max_turns-none": "on"}, "First turn:</span><b>5 calls</b>"),
        ({"seat-A-model": ""}, "Choose a model for every participant"),
    ):
        assert said in squeezed(browser.post(address, {**filled, **changes}).content.decode()), changes
