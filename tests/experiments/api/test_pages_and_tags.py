"""Lists are read page by page, and what is known already is not sent again."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.library import keeping
from experiments.models import Event, Run
from tests.cases import each_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended(arena, start):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETED)
    return run


@each_case("path", ["runs/", "experiments/", "models/", "ladders/", "presets/"])
def test_what_has_not_changed_is_not_sent_again(api, path):
    first = api.get(path)

    again = api.client.get(f"/api/{path}", headers={**api.headers, "If-None-Match": first["ETag"]})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again["ETag"] == first["ETag"]
    assert "private" in first["Cache-Control"]


def test_what_has_changed_is_sent(api, arena):
    known = api.get("experiments/")["ETag"]
    arena()

    again = api.client.get("/api/experiments/", headers={**api.headers, "If-None-Match": known})

    assert again.status_code == 200
    assert again["ETag"] != known


def test_of_a_run_that_has_ended_the_rows_are_not_even_read(api, ended):
    path = f"/api/runs/{ended.pk}/events/"
    known = api.client.get(path, headers=api.headers)["ETag"]

    with CaptureQueriesContext(
        connection,
    ) as asked:
        again = api.client.get(path, headers={**api.headers, "If-None-Match": known})

    assert again.status_code == 304
    assert not [query["sql"] for query in asked if Event._meta.db_table in query["sql"]]


@each_case("part", ["events", "calls", "messages"])
def test_who_asks_and_which_run_is_looked_up_once(api, ended, django_assert_num_queries, part):
    api.client.get(f"/api/runs/{ended.pk}/{part}/", headers=api.headers)

    with django_assert_num_queries(3):
        answer = api.client.get(f"/api/runs/{ended.pk}/{part}/", headers=api.headers)

    assert answer.status_code == 200


def test_a_run_that_went_on_is_sent_again(api, ended):
    path = f"/api/runs/{ended.pk}/events/"
    known = api.client.get(path, headers=api.headers)["ETag"]
    Run.objects.filter(pk=ended.pk).update(last_seq=99)

    assert api.client.get(path, headers={**api.headers, "If-None-Match": known}).status_code == 200


def test_a_tag_tells_a_stranger_nothing(api, charlies, ended):
    path = f"/api/runs/{ended.pk}/events/"
    known = api.client.get(path, headers=api.headers)["ETag"]

    assert api.client.get(path, headers={**charlies.headers, "If-None-Match": known}).status_code == 404


def walked(api, path, size):
    """The names of everything, page by page, and back again."""
    answer, there, back = api.get(path, page_size=size).json(), [], []
    while True:
        there.append([row["id"] for row in answer["results"]])
        if answer["next"] is None:
            break
        answer = api.client.get(answer["next"], headers=api.headers).json()
    while True:
        back.append([row["id"] for row in answer["results"]])
        if answer["previous"] is None:
            return there, back[::-1]
        answer = api.client.get(answer["previous"], headers=api.headers).json()


@pytest.mark.parametrize("path", ["presets/", "scenarios/"])
def test_a_shelf_is_read_page_by_page_and_back(api, alice, path):
    for number in range(3):
        keeping.save_preset(owner=alice, name=f"Mine {number}", context="Be brief.")
    whole = [row["id"] for row in api.get(path).json()["results"]]

    there, back = walked(api, path, 2)

    assert len(whole) > 2
    assert [name for page in there for name in page] == whole
    assert back == there


@each_case("asked", [{"cursor": "x"}, {"cursor": "bm9uZQ=="}, {"page_size": "x"}, {"page_size": "0"}])
def test_a_page_that_there_is_not_is_said(api, is_problem, asked):
    is_problem(api.get("presets/", **asked), 404 if "cursor" in asked else 400)
