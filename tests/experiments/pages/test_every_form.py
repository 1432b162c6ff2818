"""What holds for the form of every workflow: it looks for its models once, and who may only read starts nothing."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.library.builtin import builtin_presets
from experiments.library.datasets import demonstration
from experiments.models import Experiment, Run
from tests.cases import each_case
from tests.fixtures import add_model

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
