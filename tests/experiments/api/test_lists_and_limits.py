"""Lists are read page by page, what is known already is not sent again, and one may ask so often in a minute."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import api_requests
from experiments.lab.keys import keyring
from experiments.library import presets
from experiments.models import Event, Provider, ProviderModel, Run
from tests.cases import each_case
from tests.fixtures import add_model


@each_case("path", ["runs/", "experiments/", "models/", "ladders/", "presets/"])
def test_what_has_not_changed_is_not_sent_again(api, arena, path):
    first = api.get(path)
    known = {**api.headers, "If-None-Match": first["ETag"]}

    again = api.client.get(f"/api/{path}", headers=known)

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again["ETag"] == first["ETag"]
    assert "private" in first["Cache-Control"]
    if path == "experiments/":
        arena()
        changed = api.client.get("/api/experiments/", headers=known)
        assert changed.status_code == 200
        assert changed["ETag"] != first["ETag"]


def test_of_a_run_that_has_ended_the_rows_are_not_even_read_and_who_asks_and_which_run_is_looked_up_once(
    api, charlies, arena, start, django_assert_num_queries
):
    ended = start(arena())
    Run.objects.filter(pk=ended.pk).update(state=Run.State.COMPLETED)
    path = f"/api/runs/{ended.pk}/events/"
    known = {"If-None-Match": api.client.get(path, headers=api.headers)["ETag"]}

    with CaptureQueriesContext(connection) as asked:
        again = api.client.get(path, headers={**api.headers, **known})

    assert again.status_code == 304
    assert not [query["sql"] for query in asked if Event._meta.db_table in query["sql"]]
    assert api.client.get(path, headers={**charlies.headers, **known}).status_code == 404, "a tag tells nothing"
    Run.objects.filter(pk=ended.pk).update(last_seq=99)
    assert api.client.get(path, headers={**api.headers, **known}).status_code == 200, "it went on"

    for part in ("events", "calls", "messages"):
        path = f"/api/runs/{ended.pk}/{part}/"
        api.client.get(path, headers=api.headers)
        with django_assert_num_queries(3):
            assert api.client.get(path, headers=api.headers).status_code == 200, part


def walked(api, path, towards):
    while path:
        page = api.client.get(path, headers=api.headers).json()
        last, path = path, page[towards]
        yield last, [row["id"] for row in page["results"]]


@each_case("path", ["presets/", "scenarios/"])
def test_a_shelf_is_read_page_by_page_and_back(api, alice, is_problem, path):
    for number in range(3):
        presets.save_preset(owner=alice, name=f"Mine {number}", context="Be brief.")
    whole = [row["id"] for row in api.get(path).json()["results"]]

    there = list(walked(api, f"/api/{path}?page_size=2", "next"))
    back = list(walked(api, there[-1][0], "previous"))

    assert len(there) > 1
    assert [name for _address, page in there for name in page] == whole
    assert [page for _address, page in back[::-1]] == [page for _address, page in there]
    for asked, status in (("cursor=x", 404), ("cursor=bm9uZQ==", 404), ("page_size=x", 400), ("page_size=0", 400)):
        is_problem(api.get(f"{path}?{asked}"), status)


def test_models_are_listed_in_the_order_of_their_names_and_as_such_if_they_cannot_be_asked(api, provider, monkeypatch):
    monkeypatch.delenv("A_KEY_OF_NOBODY", raising=False)
    add_model("sim/neutral", label="Neutral", capabilities={"images": True})
    add_model("sim/off", is_active=False)
    for name, about in (("closed", {"is_active": False}), ("keyless", {"api_key_env": "A_KEY_OF_NOBODY"})):
        other = Provider.objects.create(name=name, base_url=f"https://{name}.example.org/v1", **about)
        ProviderModel.objects.create(provider=other, slug=f"{name}/one", upstream="one", label="One")
    unavailable = {"sim/off", "closed/one", "keyless/one"}

    def slugs(response):
        return {model["slug"] for model in response.json()["results"]}

    models = api.get("models/").json()["results"]
    available = api.get("models/", available="true")

    assert [model["slug"] for model in models] == sorted(ProviderModel.objects.values_list("slug", flat=True))
    [neutral] = [model for model in models if model["slug"] == "sim/neutral"]
    about = {"provider": "simulated", "simulated": True, "capabilities": {"images": True}}
    assert neutral == {"slug": "sim/neutral", "label": "Neutral", "available": True, **about}
    assert {model["slug"] for model in models if not model["available"]} == unavailable
    assert slugs(available) == {model["slug"] for model in models} - unavailable
    assert slugs(api.get("models/", available="false")) == unavailable


@pytest.fixture(autouse=True)
def a_minute_that_stands_still(monkeypatch):
    cache.clear()
    monkeypatch.setattr(api_requests.time, "time", lambda: 600_000.0 * 60 + 20)
    yield
    cache.clear()


def test_answers_say_how_many_requests_are_left_or_when_to_come_again(api, charlies, settings, is_problem, monkeypatch):
    settings.API_PER_PERSON = 2
    answer = api.get("runs/")
    assert [answer[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset")] == ["2", "1", "40"]
    api.get("runs/")

    answer = api.get("runs/")

    is_problem(answer, 429, "available in 40 seconds")
    assert (answer["Retry-After"], answer["X-RateLimit-Remaining"]) == ("40", "0")
    assert charlies.get("runs/").status_code == 200
    monkeypatch.setattr(api_requests.time, "time", lambda: 600_001.0 * 60)
    assert api.get("runs/").status_code == 200, "the next minute begins anew"


def test_visitors_are_counted_by_address_the_smaller_of_two_limits_is_told_and_keys_are_tested_less_often(
    api, alice, provider, settings, is_problem
):
    settings.API_KEY_TESTS = 1
    key = keyring.add(by=alice, provider=Provider.objects.get(), key="sk-nobody-reads-this-key")
    assert api.post(f"keys/{key.pk}/test/").status_code == 200
    is_problem(api.post(f"keys/{key.pk}/test/"), 429)
    assert "X-RateLimit-Limit" not in api.get("runs/")
    settings.API_PER_PERSON, settings.API_PER_ADDRESS = 9, 2
    assert api.get("runs/")["X-RateLimit-Limit"] == "2"
    Client().get("/api/ladders/")

    is_problem(Client().get("/api/ladders/"), 429)

    assert Client(REMOTE_ADDR="192.0.2.7").get("/api/ladders/").status_code == 200
