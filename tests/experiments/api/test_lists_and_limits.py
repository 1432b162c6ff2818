"""Lists read page by page, how often one may ask, and problem documents that name what is wrong with a request."""

import json

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import api_requests
from experiments.lab.keys import keyring
from experiments.library import presets
from experiments.models import Event, Provider, ProviderModel, Run
from experiments.workflows.arena.config import LONGEST_PROMPT
from tests.cases import each_case
from tests.fixtures import add_model
from tests.making import maker


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


@maker
def refuses(api, counts, is_problem, nobody_is_woken, /, path, body, *words, status=400, field="", **how):
    """Asserts that what is posted is refused, that the fields at fault lie in `field`, and that nothing is moved."""
    before, woken = counts(), list(nobody_is_woken)
    problem = is_problem(api.post(path, body, **how), status, *words)
    errors = problem.get("errors", {})
    assert not errors or any(name.startswith(field) for name in errors)
    assert {name.split(".")[0] for name in errors} <= {field.split(".")[0]} or not field
    assert (counts(), nobody_is_woken) == (before, woken)
    return problem


NEUTRAL = {"model": "sim/neutral:first=0"}
BAD = [  # what is changed in one part of an experiment; the field at fault, and a word of what is said
    ("config", {"prompt": "word " * 210_000}, "config", str(LONGEST_PROMPT)),
    ("config", {"prompt": {"deep": {"er": [1, {"x": "\x00"}]}}}, "config", "NUL"),
    ("config", {"a\ud800b": 1}, "config", "surrogate"),
    ("config", {"max_turns": 10**400}, "config", "max_turns"),
    ("config", {"prompting": "individual", "prompts": {"A": "Win."}}, "config", "prompts.B"),
    ("config", {"limits": {"money": 5}}, "config", "limits.money"),
    ("cast", {"A": {"model": "sim/nobody"}}, "cast.A", "sim/nobody"),
    ("cast", {"A": {}}, "cast.A", "model"),
    ("cast", {"C": {"model": "sim/judge:tps=0:first=0"}}, "cast.C", "no such participant"),
    ("cast", {"\udfff": {"model": "sim/judge:tps=0:first=0"}}, "cast", "surrogate"),
    ("cast", {"A": {**NEUTRAL, "persona": "x" * 101}}, "cast.A", "persona"),
    ("cast", {"A": {**NEUTRAL, "api_key": "sk-1"}}, "cast.A", "api_key"),
    ("cast", {"A": {**NEUTRAL, "params": {"heat": 1}}}, "cast.A", "heat"),
    ("cast", {"A": "sim/neutral:first=0"}, "cast", "dictionary"),
    ("", {"workflow": "chess"}, "workflow", "workflow"),
    ("", {"title": "a\x00b"}, "title", "title"),
    ("", {"title": "x" * 201}, "title", "title"),
    ("", {"config": None}, "config", "config"),
    ("", {"config": {}}, "config", "config"),
    ("", {"cast": {}}, "cast.A", "cast.A"),
    ("", {"cast": []}, "cast", "cast"),
]


@each_case(("part", "change", "field", "word"), BAD)
def test_an_experiment_that_cannot_be_played_is_refused_at_its_field(refuses, body, part, change, field, word):
    asked = {**body, part: {**body[part], **change}} if part else {**body, **change}
    assert refuses("experiments/", asked, word, field=field)["errors"]


def test_all_faults_are_named_at_once_and_fields_that_do_not_exist(refuses, body):
    config = {**body["config"], "max_turns": 0, "gap_seconds": -1}
    odd = {"workflow": "arena", "titel": "Panels", "config": {}, "cast": {}}
    for path, said, named in (
        ("experiments/", {**body, "config": config}, {"config.max_turns", "config.gap_seconds"}),
        ("experiments/", odd, {"titel"}),
        ("scenarios/", {"title": "Mine", "config": {}, "owner": "ada", "builtin": True}, {"owner", "builtin"}),
    ):
        assert set(refuses(path, said)["errors"]) == named, named


def test_a_seat_for_which_no_model_can_be_asked_is_refused_with_what_to_do(refuses, body, monkeypatch):
    monkeypatch.delenv("A_KEY_OF_NOBODY", raising=False)
    keyless = Provider.objects.create(
        name="keyless", base_url="https://b.example.org/v1", api_key_env="A_KEY_OF_NOBODY"
    )
    ProviderModel.objects.create(provider=keyless, slug="keyless/one", upstream="one", label="One")
    add_model("sim/drifting", is_active=False)
    for slug, words in (("sim/drifting", ["no available model"]), ("keyless/one", ["keyless", "Provider keys"])):
        body["cast"]["B"] = {"model": slug}
        refuses("experiments/", body, "cast.B", *words)

    ProviderModel.objects.filter(is_default_judge=True).update(is_default_judge=False)
    body["cast"]["B"] = NEUTRAL
    refuses("experiments/", body, "cast.judge", "no default model")


def test_a_body_that_is_no_object_in_json_or_has_megabytes_or_another_type_is_refused(refuses, body):
    deep = '{"workflow":"arena","cast":{},"config":' + '{"a":' * 400 + "1" + "}" * 401
    for text in ("{", '{"workflow": NaN}', "\x00", b'{"a": "\xff"}', "[1, 2]", "[" * 100_000, deep):
        refuses("experiments/", text)
    refuses("experiments/", body | {"title": "x" * 6_000_000}, "too large", status=413)
    for type_ in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        refuses("experiments/", json.dumps(body), "media type", status=415, content_type=type_)


def test_a_start_and_a_question_for_events_that_make_no_sense_are_refused(api, refuses, arena, is_problem):
    experiment = arena()
    path, run = f"experiments/{experiment.pk}/start/", Run.objects.create(experiment=experiment, seed=1)
    for name, values in {"seed": (2**53 + 1, 1.5), "repeats": (0, 51, None)}.items():
        for value in values:
            refuses(path, {name: value}, name)
    refuses(path, "[]")
    for key in ("k" * 201, "a\x00b"):
        refuses(path, None, "key", Idempotency_Key=key)
    for after in ("x", "-1", "1.5", "", "９", "9" * 19, "%00"):
        is_problem(api.get(f"runs/{run.pk}/events/?after={after}"), 400, "after", "whole number")


def test_a_method_an_address_or_a_filter_that_there_is_not_is_a_problem_document_too(api, is_problem):
    nothing = "01a1fd93-cef6-75d2-b9a8-cd401838a2b6"
    for method, path, status in (
        ("DELETE", "experiments/", 405),
        ("PUT", f"experiments/{nothing}/", 405),
        ("GET", f"runs/{nothing}/stop/", 405),
        ("GET", "nothing/", 404),
        ("GET", "runs/17/", 404),
    ):
        is_problem(api.send(method, path), status, method if status == 405 else "")
    for query in ("experiment=x", "state=asleep", "workflow=%00", "search=%00", "experiment=%00", "state=%ff"):
        is_problem(api.get(f"runs/?{query}"), 400, query.partition("=")[0])
