"""Asking a council: the form, its defaults, its presets, what it may cost, and the list of earlier ones."""

import pytest
from django.http import QueryDict
from django.urls import reverse

from experiments.models import Experiment, Message, Preset, ProviderModel, Run
from experiments.search import indexing
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

MODELS = ("sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0")
ADDRESS = "/council/"


@pytest.fixture(autouse=True)
def models(provider):
    return [add_model(slug) for slug in MODELS]


def cast(experiment):
    return {p.seat: p.model.slug for p in experiment.participants.select_related("model")}


def test_one_question_is_all_that_has_to_be_written(browser, form):
    response = browser.post(ADDRESS, form(question="Why is the sky blue?"))

    [run] = Run.objects.all()
    assert response["Location"] == run.get_absolute_url()
    seats = cast(run.experiment)
    assert len({seats[f"member-{n}"] for n in (1, 2, 3)}) == 3
    assert seats["chair"] in MODELS
    assert seats["chair-2"] not in (seats["chair"], "")
    assert run.config["question"] == "Why is the sky blue?"
    assert run.config["own_answers"] == "excluded"
    assert run.config["title"] is True


def test_the_same_model_may_sit_twice_and_rows_with_nobody_are_left_out(browser, form):
    sent = form(question="Why?") | {f"members-{n}-model": "" for n in range(6)}
    sent |= {"members-1-model": MODELS[0], "members-4-model": MODELS[0], "members-4-temperature": "1.5"}
    browser.post(ADDRESS, sent)

    experiment = Experiment.objects.get()
    assert [p.seat for p in experiment.participants.all()][:2] == ["member-1", "member-2"]
    assert cast(experiment)["member-1"] == cast(experiment)["member-2"] == MODELS[0]
    assert experiment.participants.get(seat="member-2").params == {"temperature": 1.5}


@each_case(
    ("wrong", "shown_at"),
    [
        ({"question": "  \n"}, "id_question-error"),
        ({"members-1-temperature": "9"}, "members-1-error"),
        ({f"members-{n}-model": "" for n in range(1, 6)}, None),
        ({f"members-{n}-model": MODELS[0] for n in range(31)}, None),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_nobody_is_asked_and_everything_typed_stays(browser, form, read, wrong, shown_at):
    typed = {"question": "Why?", "title": "Sky", "system_prompt": "Be brief.", **wrong}
    response = browser.post(ADDRESS, form() | typed)
    page = read(response)

    assert response.status_code == 422
    assert page.by_id(shown_at).text if shown_at else page.find(role="alert")
    kept = {name: typed[name] for name in ("title", "system_prompt", "members-1-temperature") if name in typed}
    assert kept.items() <= page.form(id="setup").items()
    assert not Run.objects.exists()


def test_the_estimate_follows_the_form(browser, form):
    guess = browser.post(reverse("council-estimate"), form(question="Why?")).content.decode()
    fewer = browser.post(reverse("council-estimate"), form(question="Why?") | {"members-2-model": ""}).content.decode()
    none = form() | {f"members-{n}-model": "" for n in range(6)}

    assert "<b>8 calls</b>, at most 12" in guess
    assert "<b>6 calls</b>" in fewer
    assert "price unknown" in guess
    assert "Choose at least two members" in browser.post(reverse("council-estimate"), none).content.decode()


def test_the_council_asked_last_is_offered_again(browser, form):
    sent = form(question="Why?") | {f"members-{n}-model": MODELS[2] for n in range(2)} | {"members-2-model": ""}
    browser.post(ADDRESS, sent | {"seat-chair-model": MODELS[0]})

    again = form()
    assert [again[f"members-{n}-model"] for n in range(3)] == [MODELS[2], MODELS[2], ""]
    assert again["seat-chair-model"] == MODELS[0]
    assert again["question"] == ""


def test_a_run_is_set_up_again_as_it_was_and_a_model_that_is_gone_is_named(form, browser, read, council, start):
    experiment = council(
        MODELS[0], MODELS[1], question="Why?", own_answers="included", params={"member-2": {"temperature": 0.5}}
    )
    address = f"{ADDRESS}?clone={start(experiment).pk}"
    again = form(address)

    assert (again["question"], again["own_answers"], again["title"]) == ("Why?", "included", experiment.title)
    assert again["members-1-temperature"] == "0.5"
    ProviderModel.objects.filter(slug=MODELS[1]).update(is_active=False)
    assert f"Not available now: {MODELS[1]}" in read(browser.get(address)).text


# --- Presets ---


def keep(browser, form, name="Three wise", **changes):
    sent = form(question="Half a question", **changes) | {"preset_name": name}
    return browser.post(reverse("council-presets"), sent)


def test_a_council_is_kept_once_under_a_name_and_what_was_typed_stays(browser, form, read):
    page = read(keep(browser, form, system_prompt="Be brief."))

    [preset] = Preset.objects.all()
    assert (preset.workflow, preset.name, preset.shared) == ("council", "Three wise", False)
    assert preset.config["config"]["system_prompt"] == "Be brief."
    assert set(preset.config["cast"]) >= {"member-1", "member-2", "member-3", "chair"}
    assert page.form(id="setup")["question"] == "Half a question"
    assert "Three wise" in page.text
    assert "already" in read(keep(browser, form)).text
    assert "cannot be empty" in read(keep(browser, form, "")).text
    assert Preset.objects.count() == 1


def test_a_kept_council_is_used_without_losing_the_question(browser, form, read):
    sent = form() | {f"members-{n}-model": MODELS[1] for n in range(3)} | {"preset_name": "Clones"}
    browser.post(reverse("council-presets"), sent)
    page = read(browser.post(ADDRESS, form(question="My question") | {"load": str(Preset.objects.get().pk)}))

    filled = page.form(id="setup")
    assert [filled[f"members-{n}-model"] for n in range(3)] == [MODELS[1]] * 3
    assert filled["question"] == "My question"
    assert not Run.objects.exists()


def test_the_lab_uses_what_is_shared_and_only_the_owner_changes_it(browser, charlies, form, read):
    keep(browser, form)
    preset = Preset.objects.get()
    address = f"{ADDRESS}?preset={preset.pk}"
    assert charlies.get(address).status_code == 404

    browser.post(reverse("council-presets"), form() | {"share": str(preset.pk)})
    assert "by alice" in read(charlies.get(address)).text
    assert charlies.post(reverse("council-preset-delete", args=[preset.pk])).status_code == 404
    assert charlies.post(reverse("council-presets"), {"unshare": str(preset.pk)}).status_code == 404

    browser.post(reverse("council-presets"), form() | {"unshare": str(preset.pk)})
    assert charlies.get(address).status_code == 404
    assert browser.post(reverse("council-preset-delete", args=[preset.pk]), form()).status_code == 200
    assert not Preset.objects.exists()


# --- Earlier councils ---


def listed(browser, read, **query):
    page = read(browser.get(ADDRESS, query))
    return [element.text for element in page.by_id("councils").findall(".//a") if "data-open" in element.attrib]


def test_councils_are_found_by_title_and_by_every_question(browser, read, council, start):
    sky = start(council(question="Why is the sky blue?"))
    start(council(question="天空为什么是蓝色的？"))
    step = sky.steps.create(key="q", kind="record", purpose="q")
    Message.objects.create(run=sky, step=step, seq=9, turn=2, seat="person", raw_text="And violet?")
    indexing.of_run(sky.pk)

    assert listed(browser, read) == ["天空为什么是蓝色的？", "Why is the sky blue?"]
    assert listed(browser, read, search="VIOLET") == ["Why is the sky blue?"]
    assert listed(browser, read, search="蓝色") == ["天空为什么是蓝色的？"]
    assert listed(browser, read, search="nothing like it") == []


def test_ten_of_ones_own_stand_on_a_page(browser, charlies, read, council, start):
    experiment = council()
    for seed in range(11):
        start(experiment, seed)

    [older] = read(browser.get(reverse("council"))).find("a", rel="next")
    place = QueryDict(older.get("href").partition("?")[2].partition("#")[0])["before"]
    assert len(listed(browser, read)) == 10
    assert len(listed(browser, read, before=place)) == 1
    assert listed(charlies, read) == []
