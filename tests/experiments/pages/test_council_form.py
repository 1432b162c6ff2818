"""Asking a council: the form, its defaults, its presets, what it may cost, and the list of earlier ones."""

import pytest
from django.urls import reverse

from experiments.models import Experiment, Preset, Run
from tests.fixtures import add_model

MODELS = ("sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0")
ADDRESS = "/council/"


@pytest.fixture(autouse=True)
def models(provider):
    return [add_model(slug) for slug in MODELS]


def cast(experiment):
    return {p.seat: p.model.slug for p in experiment.participants.select_related("model")}


def test_members_sit_in_the_order_of_their_rows_and_the_council_asked_last_is_offered_again(browser, form):
    rows = {"members-4-model": MODELS[2], "members-4-temperature": "1.5", "members-0-model": ""}
    rows |= {"members-2-model": MODELS[0], "members-1-model": MODELS[2], "members-3-model": "", "members-5-model": ""}
    others = {name: value for name, value in form(question="Why?").items() if not name.startswith("members")}
    browser.post(ADDRESS, others | rows)

    experiment = Experiment.objects.get()
    assert [p.seat for p in experiment.participants.all()][:3] == ["member-1", "member-2", "member-3"]
    assert list(cast(experiment).values())[:3] == [MODELS[2], MODELS[0], MODELS[2]]
    assert experiment.participants.get(seat="member-1").params == {"temperature": 1.5}
    again, seated = form(), cast(experiment)
    assert [again[f"members-{n}-model"] for n in range(4)] == [MODELS[2], MODELS[0], MODELS[2], ""]
    assert (again["seat-chair-model"], again["question"]) == (seated["chair"], "")


def test_a_council_is_kept_under_a_name_used_without_losing_what_was_typed_and_shared_by_its_owner_alone(
    browser, form, read, charlies
):
    sent = form(question="Half a question", system_prompt="Be brief.") | {"preset_name": "Clones"}
    sent |= {f"members-{n}-model": MODELS[1] for n in range(3)}
    page = read(browser.post(reverse("council-presets"), sent))
    [preset] = Preset.objects.all()
    assert (preset.workflow, preset.name, preset.shared) == ("council", "Clones", False)
    assert preset.config["config"]["system_prompt"] == "Be brief."
    assert set(preset.config["cast"]) >= {"member-1", "member-2", "member-3", "chair"}
    assert page.form(id="setup")["question"] == "Half a question"
    for name, said in (("Clones", "already"), ("", "cannot be empty")):
        assert said in read(browser.post(reverse("council-presets"), sent | {"preset_name": name})).text
    assert Preset.objects.count() == 1

    page = read(browser.post(ADDRESS, form(question="My question") | {"load": str(preset.pk)}))
    filled = page.form(id="setup")
    assert [filled[f"members-{n}-model"] for n in range(3)] == [MODELS[1]] * 3
    assert filled["question"] == "My question"
    assert not Run.objects.exists()

    presets, key = reverse("council-presets"), str(preset.pk)
    seen = [charlies.get(f"{ADDRESS}?preset={key}").status_code]
    for deed in ("share", "unshare"):
        browser.post(presets, form() | {deed: key})
        seen.append(charlies.get(f"{ADDRESS}?preset={key}").status_code)
        assert charlies.post(presets, {deed: key}).status_code == 404

    assert seen == [404, 200, 404]
    assert browser.post(reverse("council-preset-delete", args=[key]), form()).status_code == 200
    assert not Preset.objects.exists()
