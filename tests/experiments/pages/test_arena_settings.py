"""The finer settings of an arena experiment: mode, advanced ones, interventions, repeats, and forms that are filled."""

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.models import Experiment, ModelPrice, ProviderModel, Run
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

ARENA = "/arena/"
NOTE = {"kind": "note", "side": "B", "turn": 2, "text": "Be brief.\nPlease."}


@pytest.fixture
def filled(browser, provider, read):
    """What a browser would send if only the prompt were typed."""
    add_model("sim/cooperative:first=0", label="Anna")
    add_model("sim/neutral:first=0", label="Nora")
    return {**read(browser.get(ARENA)).form(id="setup"), "prompt": "Share seven panels."}


@pytest.fixture
def send(browser, filled):
    def post(**changes):
        return browser.post(ARENA, {k: v for k, v in {**filled, **changes}.items() if v is not None})

    return post


def row(number, **parts):
    return {f"interventions-{number}-{part}": str(value) for part, value in parts.items()}


def the_config():
    return Experiment.objects.get().config


def test_every_advanced_setting_is_heard(send):
    send(
        mode="manual",
        auto_advance="on",
        system_prompt="You are {MODEL}.\r\nStay calm.",
        elicit_thinking="on",
        logprobs="on",
        when_empty="stop",
        counterbalance="on",
        judge_sees="both",
        judge_sees_interventions=None,
        judge_sees_reasoning=None,
        judge_seconds="45",
        **{"seat-A-persona": "the elder", "seat-B-reasoning_effort": "high", "max_turns-none": "on"},
        **row(0, kind="note", side="A", turn="", text=" "),
        **row(2, **{**NOTE, "text": "Be brief.\r\nPlease."}),
    )

    config = the_config()
    assert (config["mode"], config["auto_advance"], config["max_turns"]) == ("manual", True, None)
    assert Run.objects.get().mode == "manual"
    assert config["system_prompt"] == "You are {MODEL}.\nStay calm."
    switches = ("elicit_thinking", "logprobs", "counterbalance", "judge_sees_interventions", "judge_sees_reasoning")
    assert [config[name] for name in switches] == [True, True, True, False, False]
    assert config["judge_seconds"] == 45
    assert (config["when_empty"], config["judge_sees"]) == ("stop", "both")
    assert config["interventions"] == [NOTE], "blank rows are none"
    seats = {p.seat: p for p in Experiment.objects.get().participants.all()}
    assert (seats["A"].persona, seats["B"].params) == ("the elder", {"reasoning_effort": "high"})
    assert set(seats) == {"A", "B", "judge", "filter"}, "nobody is the friend unless chosen"


@each_case(
    ("changes", "words"),
    [
        ({"turn": "0"}, "from 1 on"),
        ({"turn": "soon"}, "from 1 on"),
        ({"text": ""}, "Write what"),
        ({"kind": "x"}, "list"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_row_is_said_at_the_row_and_everything_is_kept(send, read, changes, words):
    response = send(**row(0, **NOTE), **row(1, **{**NOTE, **changes}))

    page = read(response)
    assert response.status_code == 422
    assert words in page.by_id("interventions-1-error").text
    assert words in page.find(role="alert")[0].text
    assert page.find(id="interventions-0-error") == []
    form = page.form(id="setup")
    assert {part: form[f"interventions-0-{part}"] for part in NOTE} == {k: str(v) for k, v in NOTE.items()}
    assert form["interventions-1-turn"] == str(changes.get("turn", NOTE["turn"]))
    assert Experiment.objects.count() == 0


def test_a_planned_friend_needs_somebody_to_be_it(send, read):
    planned = row(0, **{**NOTE, "kind": "friend"})
    assert read(send(**planned)).by_id("id_seat-friend-model-error").text

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


def test_a_run_is_set_up_again_as_it_was(browser, read, send):
    settings = {"mode": "manual", "max_turns": "7", "first": "B", "filter": None, "system_prompt": "Calm.",
                "seat-A-model": "sim/neutral:first=0", "seat-A-temperature": "0.3", "seat-A-persona": "elder",
                "limits-cost": "0.5", "judge_sees": "original", **row(0, **NOTE)}  # fmt: skip
    send(**settings)
    before = Experiment.objects.get()
    page = read(browser.get(ARENA, {"clone": Run.objects.get().pk}))
    browser.post(ARENA, page.form(id="setup"))

    again = Experiment.objects.exclude(pk=before.pk).get()
    assert (again.config, again.title) == (before.config, before.title)
    casts = [list(e.participants.order_by("seat").values_list("seat", "model", "persona", "params"))
             for e in (before, again)]  # fmt: skip
    assert casts[0] == casts[1]


def test_what_cannot_be_carried_over_is_said(browser, read, send):
    send(**{"seat-A-model": "sim/neutral:first=0"})
    ProviderModel.objects.filter(slug="sim/neutral:first=0").update(is_active=False)
    Experiment.objects.get().participants.filter(seat="B").update(params={"top_p": 0.5})
    page = read(browser.get(ARENA, {"clone": Run.objects.get().pk}))

    assert "Nora is not available now: choose another model for seat A." in page.text
    assert "Not carried over for seat B: top_p." in page.text


def test_a_scenario_fills_the_form(browser, filled, read):
    form = read(browser.get(ARENA, {"scenario": "emergency-recovery"})).form(id="setup")

    assert form["prompting"] == "individual"
    assert form["prompts-A"]
    assert form["prompts-B"]
    assert browser.get(ARENA, {"scenario": "no-such-scenario"}).status_code == 404


def test_the_estimate_says_what_a_form_may_cost_also_an_unfinished_one(browser, filled):
    address = reverse("arena-estimate")
    unpriced = browser.post(address, filled).content.decode()
    assert "25 calls" in unpriced
    assert "<b>price unknown</b> of Anna, Nora" in unpriced
    assert "$" not in unpriced

    for model in ProviderModel.objects.all():
        ModelPrice.objects.create(model=model, since=timezone.now(), input="0.000001", output="0.000002")
    html = browser.post(address, {**filled, "repeats": "4"}).content.decode()
    assert "100 calls</b> in 4 runs" in html
    assert "at most $" in html
    for unfinished in ({**filled, "max_turns": "x", "gap_seconds": "y", "repeats": ""}, {}):
        assert browser.post(address, unfinished).status_code == 200
