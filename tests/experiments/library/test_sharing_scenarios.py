"""What one keeps, nobody else sees; what one shares, others read and copy; the list is searched."""

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.library import scenarios
from experiments.library.scenarios import scenarios_for
from experiments.models import Scenario
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG


@pytest.fixture
def shared(alice, well):
    scenarios.share_scenario(well, by=alice)
    return well


def test_it_is_on_others_lists_and_read_by_them_once_it_is_shared(bobs, bobs_api, alice, well, read):
    def listed():
        return [s["owner"] for s in bobs_api.get("scenarios/").json()["results"] if not s["builtin"]]

    assert "The well" not in read(bobs.get(reverse("scenarios"), {"search": "well"})).text
    assert listed() == []
    assert bobs_api.get(f"scenarios/{well.pk}/").status_code == 404

    scenarios.share_scenario(well, by=alice)

    page = read(bobs.get(reverse("scenario", args=[well.pk])))
    assert "Two gardeners share one well." in page.text
    assert "by alice" in page.text
    assert listed() == ["alice"]


@each_case("name", ["scenario-edit", "scenario-share", "scenario-archive"])
def test_one_that_is_shared_or_built_in_is_changed_by_nobody_else(bobs, shared, name):
    before = Scenario.objects.values().get()

    for ref in (shared.pk, "resource-negotiation"):
        assert bobs.post(reverse(name, args=[ref]), {"shared": "0", "archived": "1"}).status_code == 403
    assert Scenario.objects.values().get() == before


@each_case("path", ["versions", "share", "archive"])
def test_the_api_says_whose_it_is_only_of_shared_ones(bobs_api, shared, alice, path):
    body = {"title": "x", "config": CONFIG}

    assert bobs_api.post(f"scenarios/{shared.pk}/{path}/", body).status_code == 403
    scenarios.share_scenario(shared, by=alice, shared=False)
    assert bobs_api.post(f"scenarios/{shared.pk}/{path}/", body).status_code == 404


def test_all_versions_are_shared_and_not_shared_together_and_a_copy_stays(bobs, bob, alice, shared):
    newer = scenarios.revise_scenario(shared, by=alice, title="The well", config=CONFIG)
    pages = [reverse("scenario", args=[row.pk]) for row in (shared, newer)]
    assert [bobs.get(page).status_code for page in pages] == [200, 200]
    response = bobs.post(reverse("scenario-copy", args=[shared.pk]))
    scenarios.share_scenario(newer, by=alice, shared=False)
    assert [bobs.get(page).status_code for page in pages] == [404, 404]
    assert [entry.detail["lab"] for entry in AuditEntry.objects.filter(action="shared")] == [False, True]

    copy = Scenario.objects.get(owner=bob)
    assert response["Location"] == reverse("scenario-edit", args=[copy.pk])
    assert (copy.config, copy.version, copy.shared) == (shared.config, 1, False)
    assert copy.family != shared.family


def titles(user, **asked):
    return [choice.title for choice in scenarios_for(user, **asked)]


def test_built_in_ones_come_first_then_the_newest_version_of_mine_then_the_labs(alice, bob, well):
    scenarios.save_scenario(owner=bob, title="A shared one", config=CONFIG, shared=True)
    scenarios.revise_scenario(well, by=alice, title="The wells", config=CONFIG)

    builtin = ["Resource negotiation", "Emergency recovery", "Bidding war"]
    assert titles(alice) == [*builtin, "The wells", "A shared one"]


@each_case(("asked", "found"), [
    ({"search": "WELL"}, ["The well"]),
    ({"search": "august"}, ["The well"]),
    ({"search": "freighter"}, ["Emergency recovery"]),
    ({"kind": "cooperation"}, ["Emergency recovery", "The well"]),
    ({"search": "b", "kind": "competition"}, ["Bidding war"]),
    ({"search": "zebra"}, []),
    ({"search": "%"}, []),
])  # fmt: skip
def test_the_search_and_the_kind_narrow_it(alice, well, asked, found):
    assert titles(alice, **asked) == found
    assert all(choice.kind_label == Scenario.Kind(choice.kind).label for choice in scenarios_for(alice, **asked))


@each_case("query", [{"kind": "war"}, {"search": "\x00"}])
def test_a_strange_question_is_answered_with_a_page(browser, well, query):
    assert browser.get(reverse("scenarios"), query).status_code == 200


def test_the_list_takes_a_fixed_number_of_queries(browser, alice, well, django_assert_max_num_queries):
    for number in range(10):
        scenarios.save_scenario(owner=alice, title=f"No. {number}", config=CONFIG)

    with django_assert_max_num_queries(6):
        browser.get(reverse("scenarios"))


def test_the_api_gives_them_too(api, well):
    answer = api.get("scenarios/", search="well").json()

    assert (answer["next"], answer["previous"]) == (None, None)
    assert [(s["id"], s["title"], s["owner"], s["builtin"]) for s in answer["results"]] == [
        (str(well.pk), "The well", "alice", False)
    ]
    assert api.get("scenarios/", kind="war").status_code == 400
