"""Setting up a debate: only what is to be debated is missing; what was typed is kept; earlier debates are found."""

import pytest
from django.urls import reverse

from experiments.models import Experiment, Run
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

PATH = "/debate/"
PROMPT = "How <b>should</b> we share\none telescope?"
SEATS = ("A", "B", "C", "refiner", "summarizer")


@pytest.fixture
def models(provider):
    return [add_model(f"sim/{name}:first=0") for name in ("cooperative", "competitive", "neutral", "deceptive")]


@pytest.fixture
def filled(browser, models, read):
    """What a browser would send if only the request were typed."""
    return {**read(browser.get(PATH)).form(id="setup"), "prompt": PROMPT}


def start_with(browser, filled, **changes):
    return browser.post(PATH, {name: value for name, value in {**filled, **changes}.items() if value is not None})


def test_the_form_as_it_is_shown_needs_only_the_request(browser, filled, alice, nobody_is_woken):
    response = start_with(browser, filled)

    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, reverse("run", args=[run.pk]))
    assert nobody_is_woken == [run.pk]
    assert (run.experiment.owner, run.experiment.workflow, run.mode) == (alice, "debate", "manual")
    config = run.experiment.config
    assert (config["prompt"], config["refine"], config["rounds"]) == (PROMPT, True, 1)
    assert (config["blind"], config["rotate"], config["addendum"]) == (False, False, "")
    assert {one.seat for one in run.experiment.participants.all()} == set(SEATS)


def test_three_different_models_debate_unless_others_are_chosen(browser, filled):
    start_with(browser, filled)

    seated = {one.seat: one.model_id for one in Experiment.objects.get().participants.all()}
    assert len({seated[seat] for seat in "ABC"}) == 3
    assert seated["summarizer"] not in {seated[seat] for seat in "ABC"}


def test_every_field_that_is_filled_in_is_heard(browser, filled, models):
    start_with(
        browser,
        filled,
        title="Telescope",
        mode="automatic",
        rounds="2",
        addendum="It must be cheap.",
        blind="on",
        rotate="on",
        **{"limits-tokens": "9000", "limits-seconds": "60", "limits-cost": "0.5"},
    )

    experiment = Experiment.objects.get()
    config = experiment.config
    assert (experiment.title, config["mode"], config["rounds"]) == ("Telescope", "automatic", 2)
    assert (config["addendum"], config["blind"], config["rotate"]) == ("It must be cheap.", True, True)
    assert config["limits"] == {"tokens": 9000, "seconds": 60.0, "cost": 0.5}


def test_the_pool_is_seated_from_its_first_place_on(browser, filled, models):
    start_with(browser, filled, **{"seat-pool-2-model": models[3].slug, "seat-pool-5-model": models[0].slug})

    pool = {one.seat: one.model.slug for one in Experiment.objects.get().participants.filter(seat__startswith="pool")}
    assert pool == {"pool-1": models[3].slug, "pool-2": models[0].slug}


def test_without_a_refiner_nobody_sits_there(browser, filled):
    start_with(browser, filled, refine=None)

    experiment = Experiment.objects.get()
    assert experiment.config["refine"] is False
    assert not experiment.participants.filter(seat="refiner").exists()


def test_how_long_an_answer_may_be_is_said_and_cannot_be_sent(browser, filled, read, settings):
    page = read(browser.get(PATH))
    assert f"a debater {settings.ROLE_TOKENS['debater']:,}" in page.text
    assert not [name for name in page.form(id="setup") if "max_tokens" in name]

    start_with(browser, filled, **{"seat-A-max_tokens": "99999"})

    assert Experiment.objects.get().participants.get(seat="A").params == {}


@pytest.mark.parametrize("blank", ["", " \r\n "])
def test_without_a_request_nothing_starts_and_the_rest_is_kept(browser, filled, read, models, blank):
    chosen = {"seat-B-model": models[3].slug, "limits-cost": "0.5", "title": "Telescope"}
    response = start_with(browser, filled, prompt=blank, **chosen)

    page = read(response)
    assert response.status_code == 422
    assert "Write what is to be debated" in page.find(role="alert")[0].text
    field = page.by_id("id_prompt")
    assert field.get("aria-invalid") == "true"
    assert "id_prompt-error" in (field.get("aria-describedby") or "")
    sent = page.form(id="setup")
    assert {name: sent[name] for name in chosen} == chosen
    assert Experiment.objects.count() == 0


@each_case(
    ("field", "value"),
    [("prompt", "x" * 100_001), ("limits-cost", "-1"), ("limits-tokens", "0"), ("rounds", "3"), ("mode", "fast")],
)
def test_what_cannot_be_played_is_complained_about_at_its_field(browser, filled, read, field, value):
    response = start_with(browser, filled, **{field: value})

    assert response.status_code == 422
    assert "The debate was not started" in read(response).text
    assert Run.objects.count() == 0


def test_a_reader_is_told_that_the_role_does_not_allow_it(browser, filled, alice, read):
    alice.role = "reader"
    alice.save()
    response = start_with(browser, filled)

    assert response.status_code == 422
    assert Run.objects.count() == 0


@pytest.mark.parametrize(("mode", "rounds", "said"), [("manual", "1", "5 calls"), ("automatic", "2", "8 calls")])
def test_the_estimate_follows_the_form(browser, filled, mode, rounds, said):
    answer = browser.post("/debate/estimate/", {**filled, "mode": mode, "rounds": rounds}).content.decode()

    assert said in answer
    assert "at most 16" in answer


def test_the_estimate_is_less_without_a_refiner(browser, filled):
    filled.pop("refine")

    assert "4 calls" in browser.post("/debate/estimate/", filled).content.decode()


def test_a_debate_is_set_up_again_as_it_was(browser, filled, read, models):
    changed = {"mode": "automatic", "rounds": "2", "addendum": "Cheap.", "blind": "on", "limits-tokens": "9000"}
    changed |= {"seat-B-model": models[3].slug, "seat-pool-1-model": models[2].slug, "title": "Telescope"}
    start_with(browser, filled, **changed)
    run = Run.objects.get()

    again = read(browser.get(f"{PATH}?clone={run.pk}")).form(id="setup")

    assert {name: again[name] for name in (*changed, "prompt")} == {**changed, "prompt": PROMPT}
    start_with(browser, again)
    first, second = Experiment.objects.order_by("created")
    assert first.config == second.config
    assert list(first.participants.values_list("seat", "model")) == list(
        second.participants.values_list("seat", "model")
    )


def test_a_model_that_is_gone_is_named_when_a_debate_is_set_up_again(browser, filled, models, read):
    start_with(browser, filled)
    gone = Experiment.objects.get().participants.get(seat="B").model
    gone.is_active = False
    gone.save()

    page = read(browser.get(f"{PATH}?clone={Run.objects.get().pk}"))

    assert f"{gone.label} is not available now" in page.text


@pytest.mark.parametrize("of", ["the run of somebody else", "nonsense"])
def test_only_ones_own_debate_is_set_up_again(browser, charlies, filled, of):
    start_with(browser, filled)
    run = Run.objects.get().pk if of != "nonsense" else of

    assert charlies.get(f"{PATH}?clone={run}").status_code == 404


def test_none_of_many_debates_is_lost(browser, filled, read):
    for number in range(23):
        start_with(browser, filled, title=f"Debate number {number}")

    page = read(browser.get(PATH))
    [older] = page.find("a", rel="next")
    first, second = page.text, read(browser.get(PATH + older.get("href"))).text
    assert "Debate number 22" in first
    assert "Debate number 0" not in first
    assert "Debate number 0" in second


@each_case(("search", "is_found"), [("telescope?", True), ("TELESCOPE", True), ("Night", True), ("microscope", False)])
def test_a_debate_is_found_by_title_and_request(browser, filled, read, search, is_found):
    start_with(browser, filled, title="Night sky")

    listed = read(browser.get(PATH, {"search": search})).by_id("debates").text
    assert ("Night sky" in listed) is is_found
    assert ("No debate fits." in listed) is not is_found


def test_debates_are_found_by_state_and_nobody_elses_are_listed(browser, charlies, filled, read):
    start_with(browser, filled, title="Night sky")

    assert "Night sky" in read(browser.get(PATH, {"state": "queued"})).by_id("debates").text
    assert "Night sky" not in read(browser.get(PATH, {"state": "failed"})).by_id("debates").text
    assert "Night sky" not in read(charlies.get(PATH)).text


def test_a_visitor_is_asked_to_sign_in(visitor):
    for path in (PATH, "/debate/estimate/"):
        response = visitor.get(path)
        assert (response.status_code, response["Location"]) == (302, f"/sign-in/?next={path}")
