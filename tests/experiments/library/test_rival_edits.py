"""Two people, or two tabs, edit the same version: one of them is told, and nothing is overwritten."""

import pytest
from django.urls import reverse

from experiments.library import keeping
from experiments.models import Scenario
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG
from tests.experiments.library.test_saving_scenarios import filled

pytestmark = pytest.mark.django_db


def test_the_second_edit_of_a_version_is_refused(alice, well):
    keeping.revise_scenario(well, by=alice, title="First", config=CONFIG)

    with pytest.raises(keeping.RevisedAlready) as refusal:
        keeping.revise_scenario(well, by=alice, title="Second", config=CONFIG)

    assert refusal.value.newest == 2
    assert [row.title for row in Scenario.objects.order_by("version")] == ["The well", "First"]


def test_the_page_keeps_what_was_typed_and_offers_to_save_after_the_rival(browser, alice, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    sent = filled(read, browser.get(path), prompt="Mine.")
    keeping.revise_scenario(well, by=alice, title="Theirs", config=CONFIG)

    response = browser.post(path, sent)
    page = read(response)

    assert response.status_code == 409
    assert "Version 2 of this scenario was saved meanwhile" in page.text
    assert page.by_id("id_prompt").text == "Mine."

    browser.post(path, page.form(id="scenario-form"))

    assert Scenario.objects.get(version=3).config["prompt"] == "Mine."


def test_the_api_answers_with_a_conflict(api, well):
    body = {"title": "x", "config": CONFIG}

    assert api.post(f"scenarios/{well.pk}/versions/", body).status_code == 201
    refused = api.post(f"scenarios/{well.pk}/versions/", body)

    assert refused.status_code == 409
    assert "Version 2" in refused.json()["detail"]
    assert Scenario.objects.count() == 2


@each_case("base", ["0", "99", "-1", "x", "9" * 30])
def test_a_forged_base_saves_nothing(browser, well, read, base):
    path = reverse("scenario-edit", args=[well.pk])

    response = browser.post(path, filled(read, browser.get(path), base=base))

    assert response.status_code in {404, 422}
    assert Scenario.objects.count() == 1
