"""The list: built-in ones, mine, the lab's; with a search and a kind."""

import pytest
from django.urls import reverse

from experiments.library import keeping
from experiments.library.shelf import scenarios_for
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG

pytestmark = pytest.mark.django_db


def titles(user, **asked):
    return [choice.title for choice in scenarios_for(user, **asked)]


def test_built_in_ones_come_first_then_mine_then_the_labs(alice, bob, well):
    his = keeping.save_scenario(owner=bob, title="A shared one", config=CONFIG, shared=True)

    assert titles(alice) == ["Resource negotiation", "Emergency recovery", "Bidding war", "The well", his.title]


def test_of_each_the_newest_version_alone(alice, well):
    newer = keeping.revise_scenario(well, by=alice, title="The wells", config=CONFIG)

    found = [choice.ref for choice in scenarios_for(alice) if choice.is_mine]

    assert found == [str(newer.pk)]


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


@each_case("query", [{"kind": "war"}, {"search": "\x00"}, {"search": "'; --"}, {"archived": "x"}])
def test_a_strange_question_is_answered_with_a_page(browser, well, query):
    assert browser.get(reverse("scenarios"), query).status_code == 200


def test_nothing_found_offers_the_way_back(browser, read):
    page = read(browser.get(reverse("scenarios"), {"search": "zebra"}))

    assert "No scenario fits." in page.text
    assert page.find("a", href=reverse("scenarios"))


def test_the_list_takes_a_fixed_number_of_queries(browser, alice, well, django_assert_max_num_queries):
    for number in range(10):
        keeping.save_scenario(owner=alice, title=f"No. {number}", config=CONFIG)

    with django_assert_max_num_queries(6):
        browser.get(reverse("scenarios"))


def test_the_api_gives_them_too(api, well):
    answer = api.get("scenarios/", search="well").json()

    assert (answer["next"], answer["previous"]) == (None, None)
    assert [(s["id"], s["title"], s["owner"], s["builtin"]) for s in answer["results"]] == [
        (str(well.pk), "The well", "alice", False)
    ]
    assert api.get("scenarios/", kind="war").status_code == 400
