"""Setting up an arena run: the form works as it is shown, and keeps what was typed when something is wrong."""

import pytest
from django.urls import reverse

from experiments import actions
from experiments.models import Experiment, ProviderModel, Run
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

ARENA = "/arena/"
TYPED = {"title": "Panels of Üsküdar", "prompt": "Share “seven” <b>panels</b> & nothing.\nBe fair."}


@pytest.fixture
def models(provider):
    return [add_model("sim/cooperative:first=0", label="Anna"), add_model("sim/neutral:first=0", label="Nora")]


@pytest.fixture
def filled(browser, models, read):
    """What a browser would send if only the prompt were typed."""
    return {**read(browser.get(ARENA)).form(id="setup"), **TYPED}


def start_with(browser, filled, **changes):
    data = {name: value for name, value in {**filled, **changes}.items() if value is not None}
    return browser.post(ARENA, data)


def assert_refused(response, page, field, words):
    """The page says what is wrong at the field, and nothing was stored."""
    assert response.status_code == 422
    [summary] = page.find(role="alert")
    assert words in summary.text
    control = page.by_id(f"id_{field}")
    assert control.get("aria-invalid") == "true"
    assert f"id_{field}-error" in (control.get("aria-describedby") or "")
    assert words in page.by_id(f"id_{field}-error").text
    assert (Experiment.objects.count(), Run.objects.count()) == (0, 0)


def test_the_form_as_it_is_shown_needs_only_a_prompt(browser, filled, alice, nobody_is_woken):
    response = start_with(browser, filled)

    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, reverse("run", args=[run.pk]))
    assert nobody_is_woken == [run.pk]
    experiment = run.experiment
    assert (experiment.owner, experiment.title) == (alice, TYPED["title"])
    assert experiment.config["max_turns"] == 5
    assert (experiment.config["filter"], experiment.config["judge"], experiment.config["first"]) == (True, True, "A")
    cast = {p.seat: p.model.slug for p in experiment.participants.select_related("model")}
    assert len({cast["A"], cast["B"]}) == 2
    assert cast["judge"].startswith("sim/judge")
    assert cast["filter"].startswith("sim/filter")


def test_every_field_that_is_filled_in_is_heard(browser, filled):
    start_with(
        browser,
        filled,
        first="B",
        filter=None,
        gap_seconds="0.5",
        **{"limits-tokens": "5000", "limits-cost": "0.25", "max_turns-none": "on"},
        **{"seat-A-temperature": "0.3", "seat-A-max_tokens": "200", "seat-B-seed": "-7"},
    )

    config = Experiment.objects.get().config
    assert config["prompt"].replace("\r\n", "\n") == TYPED["prompt"]
    assert (config["first"], config["filter"], config["gap_seconds"]) == ("B", False, 0.5)
    assert config["max_turns"] is None
    assert config["limits"] == {"tokens": 5000, "seconds": 3600.0, "cost": 0.25}, "open length has a limit of time"
    params = {p.seat: p.params for p in Experiment.objects.get().participants.all()}
    assert params == {"A": {"temperature": 0.3, "max_tokens": 200}, "B": {"seed": -7}, "judge": {}}


def test_a_prompt_for_each_side_is_for_that_side(browser, filled):
    start_with(browser, filled, prompting="individual", prompt="", **{"prompts-A": "Win.", "prompts-B": "Yield."})

    config = Experiment.objects.get().config
    assert (config["prompting"], config["prompts"]) == ("individual", {"A": "Win.", "B": "Yield."})


def test_a_missing_prompt_of_one_side_is_refused_at_that_side(browser, filled, read):
    response = start_with(browser, filled, prompting="individual", prompt="", **{"prompts-A": "Win.", "prompts-B": " "})

    page = read(response)
    assert_refused(response, page, "prompts-B", "Model B are empty")
    assert page.by_id("id_prompts-A").get("aria-invalid") is None


@each_case(
    ("changes", "field", "words"),
    [
        ({"prompt": "   \n\t "}, "prompt", "The prompt is empty"),
        ({"prompt": "a\x00b"}, "prompt", "Null characters"),
        ({"prompt": "x" * 100_001}, "prompt", "at most 100000"),
        ({"max_turns": "0"}, "max_turns", "greater than or equal to 1"),
        ({"max_turns": "101"}, "max_turns", "less than or equal to 100"),
        ({"max_turns": ""}, "max_turns", "No limit"),
        ({"gap_seconds": "61"}, "gap_seconds", "less than or equal to 60"),
        ({"gap_seconds": ""}, "gap_seconds", "number"),
        ({"limits-tokens": "0"}, "limits-tokens", "greater than or equal to 1"),
        ({"limits-seconds": "nan"}, "limits-seconds", "number"),
        ({"seat-A-model": "sim/nobody"}, "seat-A-model", "not one of the available choices"),
        ({"seat-B-model": ""}, "seat-B-model", "Choose a model"),
        ({"seat-B-temperature": "3"}, "seat-B-temperature", "less than or equal to 2"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else None,
)
def test_what_is_wrong_is_shown_at_its_field_and_nothing_is_stored(browser, filled, read, changes, field, words):
    response = start_with(browser, filled, **changes)

    assert_refused(response, read(response), field, words)


def test_what_was_typed_is_kept_safely_when_something_is_wrong_and_starts_when_corrected(browser, filled, read, models):
    typed = {
        "prompt": "</textarea><script>alert(1)</script>",
        "title": '"><script>alert(2)</script>',
        "max_turns": "0",
        "first": "B",
        "filter": None,
        "judge": "on",
        "limits-cost": "0.25",
        "limits-tokens": "0",
        "seat-A-model": models[1].slug,
        "seat-A-temperature": "0.3",
        "seat-B-model": models[0].slug,
        "seat-judge-model": "sim/judge:tps=0:first=0",
    }
    response = start_with(browser, filled, **typed)
    page = read(response)

    assert_refused(response, page, "limits-tokens", "greater than or equal to 1")
    assert_refused(response, page, "max_turns", "greater than or equal to 1")
    assert "<script>alert" not in response.content.decode()
    form, expected = page.form(id="setup"), {name: value for name, value in typed.items() if value is not None}
    assert {name: form[name] for name in expected} == expected
    assert "filter" not in form

    assert start_with(browser, form, **{"max_turns": "2", "limits-tokens": ""}).status_code == 302
    assert Experiment.objects.get().config["prompt"] == typed["prompt"]


def test_models_that_cannot_be_asked_are_not_offered_and_judges_not_as_speakers(browser, models, read):
    add_model("sim/off", is_active=False)
    page = read(browser.get(ARENA))
    offered = {option.get("value") for option in page.find("option")}
    [speaker] = page.find("select", name="seat-A-model")

    assert {"sim/cooperative:first=0", "sim/neutral:first=0", "sim/judge:tps=0:first=0"} <= offered
    assert "sim/off" not in offered
    assert {option.get("value") for option in speaker.iter("option")} == {m.slug for m in models}


@each_case(("path", "seats"), [(ARENA, "AB"), ("/debate/", "AB"), ("/starchamber/", ["model"])])
def test_seats_begin_with_general_models_rather_than_coders(browser, models, read, path, seats):
    add_model("a/coder-1")
    add_model("a/qwen-coder")
    shown = read(browser.get(path)).form(id="setup")

    assert {shown[f"seat-{seat}-model"] for seat in seats} <= {model.slug for model in models}


def test_seats_begin_with_the_models_that_were_used_last(browser, models, filled, read):
    add_model("a/coder-1")
    start_with(browser, filled, **{"seat-A-model": models[1].slug, "seat-B-model": "a/coder-1"})
    shown = read(browser.get(ARENA)).form(id="setup")

    assert (shown["seat-A-model"], shown["seat-B-model"]) == (models[1].slug, "a/coder-1")


def test_a_lab_without_models_shows_the_form_and_says_so(browser, read):
    page = read(browser.get(ARENA))

    assert "There is no usable model" in page.text


def test_a_lab_without_a_default_judge_says_so_at_the_judge(browser, filled, read):
    ProviderModel.objects.update(is_default_judge=False)
    response = start_with(browser, filled)

    assert_refused(response, read(response), "seat-judge-model", "no default model")


def test_an_experiment_whose_run_may_not_start_is_not_left_behind(browser, filled, arena, read):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(actions.MOST_LIVE_RUNS))

    response = start_with(browser, filled)

    assert response.status_code == 422
    assert "200 live runs" in read(response).text
    assert Experiment.objects.count() == 1
