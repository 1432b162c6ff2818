"""What holds for the form of every workflow, and the finer settings of the arena's, whose runs are set up again."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from experiments.library.builtin import builtin_presets
from experiments.library.datasets import demonstration
from experiments.models import Experiment, ModelPrice, ProviderModel, Run
from experiments.runs import actions
from tests.cases import each_case
from tests.fixtures import add_model
from tests.making import maker
from tests.markup import squeezed

MODELS = [f"sim/{name}:first=0" for name in ("cooperative", "competitive", "neutral", "deceptive")]
TYPED = {  # what has to be typed, and what is to be kept
    "/arena/": {"prompt": "Share <b>seven</b> panels.", "title": "Panels", "seat-A-model": MODELS[3]},
    "/starchamber/": {"first_message": "Who are you?", "title": "Ines", "context": "Be brief."},
    "/council/": {"question": "Why?", "title": "Sky", "system_prompt": "Be brief."},
    "/debate/": {"prompt": "Why?", "title": "Telescope", "addendum": "Cheap.", "mode": "automatic"},
    "/coding/": {"topic": "trees", "title": "Trees"},
}
WRONG = [  # and the elements that say so
    ("/arena/", {"prompt": "   \n\t "}, "id_prompt"),
    ("/arena/", {"max_turns": ""}, "id_max_turns"),
    ("/arena/", {"prompt": "a\x00b", "limits-seconds": "nan"}, "id_prompt id_limits-seconds"),
    ("/arena/", {"limits-tokens": "x", "seat-A-model": "sim/nobody"}, "id_limits-tokens id_seat-A-model"),
    ("/arena/", {"seat-B-model": ""}, "id_seat-B-model"),
    ("/arena/", {"seat-B-temperature": "3"}, "id_seat-B-temperature"),
    ("/starchamber/", {"first_message": "  \r\n "}, "id_first_message"),
    ("/starchamber/", {"limits-cost": "-1", "persona": "x" * 101}, "id_limits-cost id_persona"),
    ("/council/", {"question": "  \n"}, "id_question"),
    ("/council/", {"members-1-temperature": "9"}, "members-1"),
    ("/council/", {f"members-{number}-model": "" for number in range(1, 6)}, "id_members"),
    ("/council/", {f"members-{number}-model": MODELS[0] for number in range(31)}, "id_members"),
    ("/debate/", {"prompt": " \r\n "}, "id_prompt"),
    ("/debate/", {"rounds": "3"}, "id_rounds"),
    ("/debate/", {"mode": "fast"}, "id_mode"),
    ("/coding/", {"coders-2-model": MODELS[0], "quorum": "2"}, "coders-2"),
    ("/coding/", {"coders-2-model": "", "coders-3-model": ""}, "id_coders"),
    ("/coding/", {"quorum": "19"}, "id_quorum"),
    ("/coding/", {"cycles": "1000000"}, "id_cycles"),
]


NEEDED = {  # all that has to be typed, and what is set where nothing else is
    "/arena/": ("prompt", {"max_turns": 5, "filter": True, "judge": True, "first": "A"}),
    "/starchamber/": ("first_message", {"logprobs": True, "judge": True, "max_turns": None, "preset": "assistant"}),
    "/council/": ("question", {"own_answers": "excluded", "title": True}),
    "/debate/": ("prompt", {"refine": True, "rounds": 1, "blind": False, "rotate": False, "addendum": ""}),
}


@each_case("page", NEEDED)
def test_a_form_as_it_is_shown_needs_one_text_and_seats_different_models(
    browser, models, form, alice, nobody_is_woken, page
):
    needed, usual = NEEDED[page]
    response = browser.post(page, form(page) | {needed: "Who <b>are</b> you?\nReally?"})

    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, run.get_absolute_url())
    assert nobody_is_woken == [run.pk]
    assert (run.experiment.owner, f"/{run.experiment.workflow}/") == (alice, page)
    config = run.experiment.config
    heard = {needed: "Who <b>are</b> you?\nReally?", **usual}
    assert {name: config[name] for name in heard} == heard
    assert page != "/starchamber/" or config["context"] == builtin_presets()["assistant"].context
    cast = {one.seat: one.model.slug for one in run.experiment.participants.select_related("model")}
    speakers = [model for seat, model in cast.items() if len(seat) == 1 or seat.startswith("member")]
    assert len(set(speakers)) == len(speakers)
    for seat, others in (("summarizer", speakers), ("chair-2", [cast.get("chair"), ""])):
        assert cast.get(seat, "no model") not in others
    assert cast.get("judge", "sim/judge").startswith("sim/judge")
    assert cast.get("filter", "sim/filter").startswith("sim/filter")


HEARD = {  # what is filled in, the settings that it makes, and who sits where
    "/starchamber/": (
        {"persona": "Dr. Who", "title": "First contact", "logprobs": None, "judge": None, "max_turns": "9"}
        | {"seat-model-temperature": "0.2", "seat-model-seed": "11", "seat-model-top_p": "0.9"},
        {"persona": "Dr. Who", "logprobs": False, "judge": False, "max_turns": 9},
        {"model": (MODELS[1], {"temperature": 0.2, "seed": 11, "top_p": 0.9})},
    ),
    "/debate/": (  # seats of the pool are filled from the first on; how long an answer may be is not for forms to say
        {"title": "Telescope", "mode": "automatic", "rounds": "2", "blind": "on", "rotate": "on", "refine": None}
        | {"limits-tokens": "9000", "limits-seconds": "60.0", "limits-cost": "0.5", "seat-A-max_tokens": "99999"}
        | {"seat-pool-2-model": MODELS[3], "seat-pool-5-model": MODELS[0], "addendum": "Cheap."},
        {"mode": "automatic", "rounds": 2, "blind": True, "rotate": True, "refine": False, "addendum": "Cheap."}
        | {"limits": {"tokens": 9000, "seconds": 60.0, "cost": 0.5}},
        {"pool-1": (MODELS[3], {}), "pool-2": (MODELS[0], {}), "A": (MODELS[1], {}), "refiner": None},
    ),
    "/coding/": (
        {"cycles": "6", "setters": "in_turn", "topic": "graphs", "quorum": "2", "call_seconds": "60", "title": "Graphs"}
        | {"test_seconds": "2.5", "test_megabytes": "128", "limits-cost": "3", "health_check": None}
        | {"coders-1-temperature": "0.3", "coders-1-reasoning_effort": "low"},
        {"cycles": 6, "setters": "in_turn", "topic": "graphs", "quorum": 2, "health_check": False}
        | {"test_seconds": 2.5, "test_megabytes": 128, "limits": {"tokens": None, "seconds": None, "cost": 3}},
        {"coder-2": (MODELS[0], {"temperature": 0.3, "reasoning_effort": "low"})},
    ),
}


@pytest.fixture
def models(provider):
    for slug in MODELS:
        add_model(slug)


def test_every_field_that_is_filled_in_is_heard_and_a_preset_is_custom_once_edited(browser, models, form):
    for page, (typed, settings, seats) in HEARD.items():
        sent = form(page) | TYPED[page] | typed
        browser.post(page, {name: value for name, value in sent.items() if value is not None})
        experiment = Experiment.objects.latest("created")
        assert experiment.title == typed["title"]
        assert {name: experiment.config[name] for name in settings} == settings
        seated = {one.seat: (one.model.slug, one.params) for one in experiment.participants.select_related("model")}
        assert {seat: seated.get(seat) for seat in seats} == seats

    for preset, changes, kept in (("debate", {}, "debate"), ("debate", {"context": "You are Ines."}, "custom")):
        sent = form(f"/starchamber/?preset={preset}")
        assert (sent["preset"], sent["context"]) == (preset, builtin_presets()[preset].context)
        browser.post("/starchamber/", sent | {"first_message": "Who are you?"} | changes)
        assert Experiment.objects.latest("created").config["preset"] == kept


@each_case("page", TYPED)
def test_what_is_wrong_is_said_at_its_field_and_everything_typed_stays(browser, models, form, read, subtests, page):
    filled = form(page) | TYPED[page]
    for wrong, said_at in [(wrong, said_at) for of, wrong, said_at in WRONG if of == page]:
        with subtests.test(str(wrong)[:80]):
            answer = browser.post(page, filled | wrong)
            shown = read(answer)
            links = {link.get("href") for link in shown.find(role="alert")[0].iter("a")}
            assert answer.status_code == 422
            for name in said_at.split():
                assert shown.by_id(f"{name}-error").text
                assert not name.startswith("id_") or (f"#{name}" in links and shown.by_id(name) is not None)
            kept = {name: value for name, value in TYPED[page].items() if name not in wrong}
            assert kept.items() <= shown.form(id="setup").items()
            assert not Experiment.objects.exists()


@each_case("page", TYPED)
def test_examples_fill_the_field_below_which_they_stand_and_models_are_looked_for_once(browser, read, page):
    shown = read(browser.get(page))
    assert page != "/debate/" or "max_tokens" not in str(shown.form(id="setup"))
    examples = [button for button in shown.find("button") if "data-fill" in button.attrib]
    assert len(examples) == 3
    for example in examples:
        assert shown.by_id(example.get("data-fill")).tag == "textarea"
        assert example.get("value")

    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(page)
    looked = [query["sql"] for query in queries if 'FROM "experiments_provider" WHERE' in query["sql"]]
    assert (answer.status_code, len(looked)) == (200, 1)


def test_who_may_only_read_sees_every_form_and_starts_nothing(browser, provider, alice, read):
    demonstration.make_text(alice)
    alice.role = alice.Role.REVIEWER
    alice.save()
    for page in (*TYPED, "/battles/"):
        shown = read(browser.get(page))
        assert "Your role can read" in shown.text, page
        assert browser.post(page, shown.form(id="setup")).status_code in {403, 422}, page
    assert not Experiment.objects.exists()


def test_the_latest_runs_are_listed_and_lead_to_the_list_of_all(browser, charlies, read, council, start):
    for number in range(7):
        start(council(question=f"Question {number}?"))

    def listed(of):
        return [link.text for link in read(of.get("/council/")).find("a") if "data-open" in link.attrib]

    assert listed(browser) == [f"Question {number}?" for number in (6, 5, 4, 3, 2)]
    assert listed(charlies) == []
    assert read(browser.get("/council/")).find("a", href="/runs/?workflow=council")


ADDRESS = "/arena/"
PANELS = {"title": "Panels of Üsküdar", "prompt": "Share “seven” <b>panels</b> & nothing.\nBe fair."}
NOTE = {"kind": "note", "side": "B", "turn": 2, "text": "Be brief.\nPlease."}


@pytest.fixture
def named(provider):
    return [add_model("sim/cooperative:first=0", label="Anna"), add_model("sim/neutral:first=0", label="Nora")]


@pytest.fixture
def filled(browser, named, read):
    return {**read(browser.get(ADDRESS)).form(id="setup"), **PANELS}


def test_seats_begin_with_general_models_and_later_with_those_used_last(send, browser, named, read):
    add_model("a/coder-1")
    add_model("a/qwen-coder")
    for path, seats in (("/debate/", "AB"), ("/starchamber/", ["model"]), (ADDRESS, "AB")):
        shown = read(browser.get(path)).form(id="setup")
        assert {shown[f"seat-{seat}-model"] for seat in seats} <= {model.slug for model in named}, path

    add_model("sim/off", is_active=False)
    [speaker] = read(browser.get(ADDRESS)).find("select", name="seat-A-model")
    offered = {option.get("value") for option in speaker.iter("option")}
    assert offered == {*(m.slug for m in named), "a/coder-1", "a/qwen-coder"}, "judges do not speak"
    used = {"seat-A-model": named[1].slug, "seat-B-model": "a/coder-1"}
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


def note_row(number, **parts):
    return {f"interventions-{number}-{part}": str(value) for part, value in parts.items()}


def test_what_is_wrong_with_a_row_is_said_at_the_row_and_everything_is_kept(send, read):
    wrong = [{"turn": "0"}, {"text": ""}, {"kind": "x"}]
    rows = {
        name: value for n, changes in enumerate(wrong, 1) for name, value in note_row(n, **{**NOTE, **changes}).items()
    }
    response = send(**note_row(0, **NOTE), **rows)

    page = read(response)
    assert response.status_code == 422
    for number, words in enumerate(("greater than or equal to 1", "is empty", "should be"), 1):
        assert words in page.by_id(f"interventions-{number}-error").text
        assert words in page.find(role="alert")[0].text
    assert page.find(id="interventions-0-error") == []
    form = page.form(id="setup")
    assert {part: form[f"interventions-0-{part}"] for part in NOTE} == {k: str(v) for k, v in NOTE.items()}
    assert [form[f"interventions-{number}-turn"] for number in (1, 2, 3)] == ["0", "2", "2"]
    planned = note_row(0, **{**NOTE, "kind": "friend"})
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
    blank = note_row(0, kind="note", side="A", turn="", text=" ")
    typed = {"mode": "manual", "first": "B", "filter": None, "system_prompt": "Be {MODEL}.\r\nCalm.", **blank}
    typed |= {"auto_advance": "on", "elicit_thinking": "on", "logprobs": "on", "when_empty": "stop"}
    typed |= {"counterbalance": "on", "judge_sees": "both", "judge_sees_interventions": None, "judge_seconds": "45"}
    typed |= {"judge_sees_reasoning": None, "max_turns-none": "on", "limits-tokens": "5000", "limits-cost": "0.25"}
    typed |= {"seat-A-model": "sim/neutral:first=0", "seat-A-temperature": "0.3", "seat-A-persona": "elder"}
    typed |= {"seat-B-seed": "-7", "seat-B-reasoning_effort": "high", "gap_seconds": "0.5"}
    send(**typed, **note_row(2, **{**NOTE, "text": "Be brief.\r\nPlease."}))
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
