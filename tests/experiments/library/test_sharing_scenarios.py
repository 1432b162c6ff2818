"""What one keeps, nobody else sees; what one shares, others read and copy."""

from uuid import uuid4

import pytest
from django.urls import reverse

from experiments.library import keeping
from experiments.models import Scenario
from experiments.refusals import NotAllowed
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG

pytestmark = pytest.mark.django_db

PAGES = ["scenario", "scenario-edit"]
MOVES = ["scenario-edit", "scenario-share", "scenario-archive", "scenario-copy", "scenario-demonstration"]


@pytest.fixture
def shared(alice, well):
    keeping.share_scenario(well, by=alice)
    return well


@pytest.mark.parametrize("name", PAGES)
def test_bob_does_not_learn_that_an_unshared_one_exists(bobs, well, name):
    assert bobs.get(reverse(name, args=[well.pk])).status_code == 404
    assert bobs.get(reverse(name, args=[uuid4()])).status_code == 404


@each_case("name", MOVES)
def test_bob_moves_nothing_of_an_unshared_one(bobs, well, name):
    before = Scenario.objects.values().get()

    assert bobs.post(reverse(name, args=[well.pk]), {"shared": "1", "archived": "1"}).status_code == 404
    assert Scenario.objects.values().get() == before


def test_it_is_on_nobody_elses_list(bobs, bobs_api, well, read):
    assert "The well" not in read(bobs.get(reverse("scenarios"), {"search": "well"})).text
    assert [s["id"] for s in bobs_api.get("scenarios/").json()["results"] if not s["builtin"]] == []
    assert bobs_api.get(f"scenarios/{well.pk}/").status_code == 404


def test_a_shared_one_is_read_by_others(bobs, bobs_api, shared, read):
    page = read(bobs.get(reverse("scenario", args=[shared.pk])))

    assert "Two gardeners share one well." in page.text
    assert "by alice" in page.text
    assert [s["owner"] for s in bobs_api.get("scenarios/").json()["results"] if not s["builtin"]] == ["alice"]


@each_case("name", ["scenario-edit", "scenario-share", "scenario-archive"])
def test_a_shared_one_is_changed_by_nobody_else(bobs, shared, name):
    before = Scenario.objects.values().get()

    assert bobs.post(reverse(name, args=[shared.pk]), {"shared": "0", "archived": "1"}).status_code == 404
    assert Scenario.objects.values().get() == before


def test_the_verbs_themselves_refuse_strangers(bob, shared):
    for verb, fields in (
        (keeping.revise_scenario, {"title": "x", "config": CONFIG}),
        (keeping.share_scenario, {"shared": False}),
        (keeping.archive_scenario, {}),
    ):
        with pytest.raises(NotAllowed):
            verb(shared, by=bob, **fields)


@each_case("path", ["versions", "share", "archive"])
def test_the_api_says_whose_it_is_only_of_shared_ones(bobs_api, shared, alice, path):
    body = {"title": "x", "config": CONFIG}

    assert bobs_api.post(f"scenarios/{shared.pk}/{path}/", body).status_code == 403
    keeping.share_scenario(shared, by=alice, shared=False)
    assert bobs_api.post(f"scenarios/{shared.pk}/{path}/", body).status_code == 404


def test_a_copy_is_bobs_own_from_then_on(bobs, bob, shared):
    response = bobs.post(reverse("scenario-copy", args=[shared.pk]))
    copy = Scenario.objects.get(owner=bob)

    assert response["Location"] == reverse("scenario-edit", args=[copy.pk])
    assert (copy.config, copy.version, copy.shared) == (shared.config, 1, False)
    assert copy.family != shared.family


@each_case("slug", ["resource-negotiation", "emergency-recovery", "bidding-war"])
def test_a_built_in_one_can_be_copied_too(browser, alice, slug):
    browser.post(reverse("scenario-copy", args=[slug]))

    assert Scenario.objects.get(owner=alice).config["max_turns"] == 3


def test_sharing_is_of_all_versions_and_can_be_taken_back(bobs, alice, shared):
    newer = keeping.revise_scenario(shared, by=alice, title="The well", config=CONFIG)
    pages = [reverse("scenario", args=[row.pk]) for row in (shared, newer)]

    assert [bobs.get(page).status_code for page in pages] == [200, 200]
    keeping.share_scenario(newer, by=alice, shared=False)
    assert [bobs.get(page).status_code for page in pages] == [404, 404]


@each_case("name", ["scenario-share", "scenario-archive", "scenario-copy"])
def test_changes_are_posted(browser, well, name):
    assert browser.get(reverse(name, args=[well.pk])).status_code == 405


@each_case("ref", ["resource-negotiation", "no-such-thing"])
@each_case("name", ["scenario-edit", "scenario-share", "scenario-archive"])
def test_a_built_in_one_is_changed_by_nobody(browser, name, ref):
    assert browser.post(reverse(name, args=[ref]), {"shared": "1"}).status_code == 404


def test_a_visitor_is_asked_to_sign_in(client, well):
    for name in ("scenarios", "scenario-new", "presets"):
        assert client.get(reverse(name))["Location"].startswith(reverse("login"))
    assert client.get(reverse("scenario", args=[well.pk]))["Location"].startswith(reverse("login"))
