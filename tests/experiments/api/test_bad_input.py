"""Whatever is wrong with a request, the answer is a problem document that names the field, and nothing is stored."""

import json

import pytest

from experiments.models import Provider, ProviderModel
from tests.cases import each_case
from tests.fixtures import add_model

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

MEGABYTE = "word " * 210_000
BAD_CONFIG = [
    ({"prompt": ""}, "prompt"),
    ({"prompt": "   \n\t "}, "prompt"),
    ({"prompt": None}, "prompt"),
    ({"prompt": 5}, "prompt"),
    ({"prompt": MEGABYTE}, "prompt"),
    ({"prompt": "a\x00b"}, "NUL"),
    ({"prompt": "a\ud800b"}, "surrogate"),
    ({"a\ud800b": 1}, "surrogate"),
    ({"max_turns": 0}, "max_turns"),
    ({"max_turns": 101}, "max_turns"),
    ({"max_turns": "x"}, "max_turns"),
    ({"max_turns": -1}, "max_turns"),
    ({"max_turns": 2.5}, "max_turns"),
    ({"max_turns": [1]}, "max_turns"),
    ({"max_turns": 10**400}, "max_turns"),
    ({"mode": "manual-ish"}, "mode"),
    ({"prompting": "individual"}, "Model A and Model B"),
    ({"prompting": "individual", "prompts": {"A": "Win."}}, "prompts.B"),
    ({"first": "C"}, "first"),
    ({"gap_seconds": -1}, "gap_seconds"),
    ({"gap_seconds": 61}, "gap_seconds"),
    ({"limits": {"tokens": 0}}, "limits.tokens"),
    ({"limits": {"cost": -5}}, "limits.cost"),
    ({"limits": {"seconds": "soon"}}, "limits.seconds"),
    ({"limits": {"money": 5}}, "limits.money"),
    ({"limits": None}, "limits"),
    ({"turns": 5}, "turns"),
    ({"prompt": {"deep": {"er": [1, {"x": "\x00"}]}}}, "NUL"),
]


@each_case(("change", "word"), BAD_CONFIG, ids=[ascii(change)[:50] for change, _ in BAD_CONFIG])
def test_a_config_that_cannot_be_played_is_refused(api, body, counts, is_problem, change, word):
    body["config"] |= change
    before = counts()

    document = is_problem(api.post("experiments/", body), 400, word)

    assert all(field.split(".")[0] == "config" for field in document["errors"])
    assert counts() == before


BAD_CAST = [
    ({"A": {"model": "sim/nobody"}}, "cast.A", "sim/nobody"),
    ({"A": {"model": ""}}, "cast.A", "model"),
    ({"A": {}}, "cast.A", "model"),
    ({"A": {"model": 5}}, "cast.A", "model"),
    ({"A": {"model": "x" * 201}}, "cast.A", "model"),
    ({"A": {"model": "sim/a\x00"}}, "cast", "NUL"),
    ({"A": {"model": "sim/\ud800"}}, "cast", "surrogate"),
    ({"C": {"model": "sim/judge:tps=0:first=0"}}, "cast.C", "no such seat"),
    ({"\udfff": {"model": "sim/judge:tps=0:first=0"}}, "cast", "surrogate"),
    ({"judge": {"model": "sim/nobody"}}, "cast.judge", "sim/nobody"),
    ({"A": {"model": "sim/neutral:first=0", "persona": "x\x00"}}, "cast", "NUL"),
    ({"A": {"model": "sim/neutral:first=0", "persona": "\ud800"}}, "cast", "surrogate"),
    ({"A": {"model": "sim/neutral:first=0", "persona": "x" * 101}}, "cast.A", "persona"),
    ({"A": {"model": "sim/neutral:first=0", "api_key": "sk-1"}}, "cast.A", "api_key"),
    ({"A": {"model": "sim/neutral:first=0", "params": {"temperature": 3}}}, "cast.A", "temperature"),
    ({"A": {"model": "sim/neutral:first=0", "params": {"max_tokens": 0}}}, "cast.A", "max_tokens"),
    ({"A": {"model": "sim/neutral:first=0", "params": {"stop": ["a"] * 5}}}, "cast.A", "stop"),
    ({"A": {"model": "sim/neutral:first=0", "params": {"heat": 1}}}, "cast.A", "heat"),
    ({"A": {"model": "sim/neutral:first=0", "params": {"seed": 2**63}}}, "cast.A", "seed"),
    ({"A": "sim/neutral:first=0"}, "cast", "dictionary"),
    ({"\ud800": "sim/neutral:first=0"}, "cast", "dictionary"),
    ({"A": None}, "cast", "null"),
]


@each_case(("change", "field", "word"), BAD_CAST, ids=[ascii(change)[:70] for change, *_ in BAD_CAST])
def test_a_cast_that_cannot_be_seated_is_refused(api, body, counts, is_problem, change, field, word):
    body["cast"] |= change
    before = counts()

    document = is_problem(api.post("experiments/", body), 400, field, word)

    assert any(name.startswith(field) for name in document["errors"])
    assert counts() == before


@each_case(
    ("change", "field"),
    [
        ({"workflow": "chess"}, "workflow"),
        ({"workflow": "\ud800"}, "workflow"),
        ({"workflow": None}, "workflow"),
        ({"workflow": ["arena"]}, "workflow"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "a\ud800b"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": None}, "title"),
        ({"title": {"en": "x"}}, "title"),
        ({"config": None}, "config"),
        ({"config": "prompt"}, "config"),
        ({"config": []}, "config"),
        ({"config": {}}, "config"),
        ({"cast": None}, "cast"),
        ({"cast": {}}, "cast.A"),
        ({"cast": []}, "cast"),
        ({"cast": "sim/neutral"}, "cast"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_field_of_the_wrong_kind_is_refused_by_name(api, body, counts, is_problem, change, field):
    before = counts()

    document = is_problem(api.post("experiments/", body | change), 400, field)

    assert any(name.startswith(field) for name in document["errors"])
    assert counts() == before


@each_case("field", ["workflow", "config", "cast"])
def test_a_missing_field_is_named(api, body, counts, is_problem, field):
    before = counts()
    del body[field]

    is_problem(api.post("experiments/", body), 400, field, "required")

    assert counts() == before


def test_all_faults_are_named_at_once(api, body, is_problem):
    body["config"] |= {"max_turns": 0, "gap_seconds": -1}

    document = is_problem(api.post("experiments/", body), 400, "config.max_turns", "config.gap_seconds")

    assert set(document["errors"]) == {"config.max_turns", "config.gap_seconds"}


@each_case(
    "text",
    [
        "",
        "{",
        '{"workflow": "arena",}',
        "workflow=arena",
        '{"workflow": NaN}',
        "\x00",
        b"\xff\xfe\x00",
        b'{"a": "\xff"}',
    ],
    ids=["empty", "cut", "comma", "form", "NaN", "NUL", "UTF-16", "Latin"],
)
def test_a_body_that_is_no_json_is_refused(api, body, counts, is_problem, text):
    before = counts()

    is_problem(api.post("experiments/", text), 400)

    assert counts() == before


@each_case("text", ["[]", "[1, 2]", '"arena"', "7", "null", "true"])
def test_a_body_that_is_no_object_is_refused(api, body, counts, is_problem, text):
    before = counts()

    is_problem(api.post("experiments/", text), 400)

    assert counts() == before


@each_case(
    "text",
    ["[" * 100_000, '{"config":' * 50_000, '{"workflow":"arena","cast":{},"config":' + '{"a":' * 400 + "1" + "}" * 401],
    ids=["open brackets", "open objects", "deep config"],
)
def test_json_that_is_nested_too_deeply_is_refused(api, body, counts, is_problem, text):
    before = counts()

    is_problem(api.post("experiments/", text), 400)

    assert counts() == before


def test_a_body_of_megabytes_is_refused_unread(api, body, counts, is_problem):
    before = counts()

    is_problem(api.post("experiments/", body | {"title": "x" * 6_000_000}), 413, "too large")

    assert counts() == before


@each_case(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"],
)
def test_another_content_type_is_refused(api, body, counts, is_problem, content_type):
    before = counts()

    is_problem(api.post("experiments/", json.dumps(body), content_type=content_type), 415, "media type")

    assert counts() == before


def test_a_model_that_is_switched_off_is_refused(api, body, counts, is_problem):
    add_model("sim/drifting", is_active=False)
    body["cast"]["B"] = {"model": "sim/drifting"}
    before = counts()

    is_problem(api.post("experiments/", body), 400, "cast.B", "no available model called sim/drifting")

    assert counts() == before


def test_a_model_whose_provider_has_no_key_is_refused_with_what_to_set(api, body, is_problem, monkeypatch):
    monkeypatch.delenv("A_KEY_OF_NOBODY", raising=False)
    keyless = Provider.objects.create(
        name="keyless", base_url="https://b.example.org/v1", api_key_env="A_KEY_OF_NOBODY"
    )
    ProviderModel.objects.create(provider=keyless, slug="keyless/one", upstream="one", label="One")
    body["cast"]["B"] = {"model": "keyless/one"}

    is_problem(api.post("experiments/", body), 400, "cast.B", "keyless", "Provider keys")


def test_a_lab_without_a_default_judge_says_so(api, body, is_problem):
    ProviderModel.objects.filter(is_default_judge=True).update(is_default_judge=False)

    is_problem(api.post("experiments/", body), 400, "cast.judge", "no default model")


@each_case(
    ("change", "field"),
    [
        ({"seed": "x"}, "seed"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**53 + 1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": [1]}, "seed"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 51}, "repeats"),
        ({"repeats": "many"}, "repeats"),
        ({"repeats": None}, "repeats"),
    ],
    ids=str,
)
def test_a_start_that_makes_no_sense_is_refused(api, arena, counts, is_problem, nobody_is_woken, change, field):
    experiment = arena()
    before = counts()

    is_problem(api.post(f"experiments/{experiment.pk}/start/", change), 400, field)

    assert (counts(), nobody_is_woken) == (before, [])


@each_case("text", ["{", "[]", '"x"'])
def test_a_start_with_a_broken_body_is_refused(api, arena, counts, is_problem, text):
    experiment = arena()
    before = counts()

    is_problem(api.post(f"experiments/{experiment.pk}/start/", text), 400)

    assert counts() == before


@pytest.mark.parametrize("key", ["k" * 201, "a\x00b"], ids=["long", "NUL"])
def test_an_idempotency_key_that_cannot_be_stored_is_refused(api, arena, counts, is_problem, key):
    experiment = arena()
    before = counts()

    is_problem(api.post(f"experiments/{experiment.pk}/start/", Idempotency_Key=key), 400, "key")

    assert counts() == before


@each_case(
    "query",
    ["experiment=x", "state=asleep", "workflow=%00", "search=%00", "experiment=%00", "state=%ff"],
)
def test_a_filter_that_makes_no_sense_is_refused_by_name(api, is_problem, query):
    is_problem(api.get(f"runs/?{query}"), 400, query.partition("=")[0])


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "", "９", "9" * 19, "%00"])
def test_events_after_no_number_are_refused(api, arena, start, is_problem, after):
    run = start(arena())

    is_problem(api.get(f"runs/{run.pk}/events/?after={after}"), 400, "after", "whole number")


@each_case("path", ["runs/?cursor=x", "experiments/?cursor=%00", "models/?cursor=cD0="])
def test_a_cursor_that_is_not_ours_is_refused_or_ignored(api, provider, path):
    response = api.get(path)

    assert response.status_code in {200, 400, 404}
    assert response.status_code == 200 or response["Content-Type"] == "application/problem+json"


@each_case(("method", "path"), [("DELETE", "experiments/"), ("PUT", "runs/"), ("POST", "runs/"), ("POST", "health/")])
def test_a_method_that_is_not_offered_is_refused(api, is_problem, method, path):
    is_problem(api.send(method, path), 405, method)


@each_case("path", ["nothing/", "runs/17/", "experiments/not-a-uuid/", "runs/x/messages/"])
def test_an_address_that_does_not_exist_is_a_problem_document_too(api, is_problem, path):
    is_problem(api.get(path), 404)


def test_a_format_that_is_not_offered_is_refused(api, arena, start, is_problem):
    run = start(arena())

    is_problem(api.get(f"runs/{run.pk}/report/", format="docx"), 400, "format", "json")
