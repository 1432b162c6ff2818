"""Asking a council: the form, its defaults, its presets, what it may cost, and the list of earlier ones."""

import pytest
from django.http import QueryDict
from django.urls import reverse

from experiments.models import Experiment, Message, Preset, ProviderModel, Run
from experiments.search import indexing
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

MODELS = ("sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0")
ADDRESS = "/council/"


@pytest.fixture(autouse=True)
def models(provider):
    return [add_model(slug) for slug in MODELS]


@pytest.fixture
def form(browser, read):
    """What a browser would send of the form as it is shown."""

    def filled(address=ADDRESS, **changes):
        sent = read(browser.get(address)).form(id="setup")
        sent = {name: value for name, value in sent.items() if "__NUMBER__" not in name}
        return {**sent, **{name.replace("_model", "-model").replace("__", "-"): v for name, v in changes.items()}}

    return filled


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


def test_a_handful_of_rows_stands_there_without_a_script(browser, read):
    page = read(browser.get(ADDRESS))

    rows = [element for element in page.find("select") if (element.get("name") or "").startswith("members-")]
    assert len([row for row in rows if "__NUMBER__" not in row.get("name")]) == 6


@pytest.mark.parametrize("question", ["", "  \n"])
def test_without_a_question_nobody_is_asked_and_everything_typed_stays(browser, form, read, question):
    response = browser.post(ADDRESS, form(question=question, title="Sky", system_prompt="Be brief."))
    page = read(response)

    assert response.status_code == 422
    assert "Write the question that the council is to answer." in page.text
    assert page.form(id="setup")["title"] == "Sky"
    assert page.form(id="setup")["system_prompt"] == "Be brief."
    assert not Run.objects.exists()


def test_one_member_is_no_council(browser, form, read):
    sent = form(question="Why?") | {f"members-{n}-model": "" for n in range(1, 6)}
    response = browser.post(ADDRESS, sent)

    assert response.status_code == 422
    assert "at least two members" in read(response).text


def test_thirty_members_are_taken_and_thirty_one_are_not(browser, form):
    sent = form(question="Why?") | {f"members-{n}-model": MODELS[0] for n in range(31)}
    assert browser.post(ADDRESS, sent).status_code == 422

    del sent["members-30-model"]
    assert browser.post(ADDRESS, sent).status_code == 302
    assert len(cast(Experiment.objects.get())) >= 31


def test_a_bad_number_is_shown_at_its_member(browser, form, read):
    response = browser.post(ADDRESS, form(question="Why?") | {"members-1-temperature": "9"})
    page = read(response)

    assert response.status_code == 422
    assert page.by_id("members-1-error").text
    assert page.form(id="setup")["members-1-temperature"] == "9"


def test_a_reader_sees_the_page_and_cannot_ask(browser, alice, read):
    alice.role = alice.Role.REVIEWER
    alice.save()
    assert "Your role lets you read" in read(browser.get(ADDRESS)).text


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


def test_a_run_is_set_up_again_as_it_was(browser, charlies, form, council, start):
    experiment = council(
        MODELS[0], MODELS[0], question="Why?", own_answers="included", params={"member-2": {"temperature": 0.5}}
    )
    run = start(experiment)
    again = form(f"{ADDRESS}?clone={run.pk}")

    assert again["question"] == "Why?"
    assert again["own_answers"] == "included"
    assert again["members-1-temperature"] == "0.5"
    assert again["title"] == experiment.title
    assert charlies.get(f"{ADDRESS}?clone={run.pk}").status_code == 404
    assert browser.get(f"{ADDRESS}?clone=nonsense").status_code == 404


def test_a_model_that_is_gone_is_named(browser, read, council, start):
    run = start(council(MODELS[0], MODELS[1]))
    ProviderModel.objects.filter(slug=MODELS[1]).update(is_active=False)

    assert f"Not available now: {MODELS[1]}" in read(browser.get(f"{ADDRESS}?clone={run.pk}")).text


# --- Presets ---


def keep(browser, form, name="Three wise", **changes):
    sent = form(question="Half a question", **changes) | {"preset_name": name}
    return browser.post(reverse("council-presets"), sent)


def test_a_council_is_kept_and_what_was_typed_stays(browser, form, read):
    page = read(keep(browser, form, system_prompt="Be brief."))

    [preset] = Preset.objects.all()
    assert (preset.workflow, preset.name, preset.shared) == ("council", "Three wise", False)
    assert preset.config["config"]["system_prompt"] == "Be brief."
    assert set(preset.config["cast"]) >= {"member-1", "member-2", "member-3", "chair"}
    assert page.form(id="setup")["question"] == "Half a question"
    assert "Three wise" in page.text


@pytest.mark.parametrize("name", ["", "Three wise"])
def test_a_name_is_needed_and_used_once(browser, form, read, name):
    keep(browser, form)
    page = read(keep(browser, form, name))

    assert Preset.objects.count() == 1
    assert "already" in page.text or "cannot be empty" in page.text


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


def test_a_preset_is_deleted(browser, form):
    keep(browser, form)
    response = browser.post(reverse("council-preset-delete", args=[Preset.objects.get().pk]), form())

    assert response.status_code == 200
    assert not Preset.objects.exists()


# --- Earlier councils ---


def listed(browser, read, **query):
    page = read(browser.get(ADDRESS, query))
    return [element.text for element in page.by_id("councils").findall(".//a") if "data-open" in element.attrib]


def test_councils_are_found_by_title_and_by_every_question(browser, read, council, start):
    sky = start(council(question="Why is the sky blue?"))
    start(council(question="天空为什么是蓝色的？"))
    Message.objects.create(
        run=sky,
        step=sky.steps.create(key="q", kind="record", purpose="q"),
        seq=9,
        turn=2,
        seat="person",
        raw_text="And violet?",
    )
    indexing.of_run(sky.pk)

    assert listed(browser, read) == ["天空为什么是蓝色的？", "Why is the sky blue?"]
    assert listed(browser, read, search="VIOLET") == ["Why is the sky blue?"]
    assert listed(browser, read, search="蓝色") == ["天空为什么是蓝色的？"]
    assert listed(browser, read, search="nothing like it") == []


def test_nobody_finds_somebody_elses_councils(charlies, read, council, start):
    start(council())

    assert listed(charlies, read) == []


def test_ten_stand_on_a_page(browser, read, council, start):
    experiment = council()
    for seed in range(11):
        start(experiment, seed)

    [older] = read(browser.get(reverse("council"))).find("a", rel="next")
    place = QueryDict(older.get("href").partition("?")[2].partition("#")[0])["before"]
    assert len(listed(browser, read)) == 10
    assert len(listed(browser, read, before=place)) == 1
