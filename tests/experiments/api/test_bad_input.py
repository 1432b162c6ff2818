"""Whatever is wrong with a request, the answer is a problem document that names the field, and nothing is stored."""

import json

from experiments.models import Provider, ProviderModel, Run
from experiments.workflows.arena.config import LONGEST_PROMPT
from tests.cases import each_case
from tests.fixtures import add_model
from tests.making import maker


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


BAD_CONFIG = [
    ({"prompt": "word " * 210_000}, str(LONGEST_PROMPT)),
    ({"prompt": {"deep": {"er": [1, {"x": "\x00"}]}}}, "NUL"),
    ({"a\ud800b": 1}, "surrogate"),
    ({"max_turns": 10**400}, "max_turns"),
    ({"prompting": "individual", "prompts": {"A": "Win."}}, "prompts.B"),
    ({"limits": {"money": 5}}, "limits.money"),
]


@each_case(("change", "word"), BAD_CONFIG, ids=[ascii(change)[:50] for change, _ in BAD_CONFIG])
def test_a_config_that_cannot_be_played_is_refused(refuses, body, change, word):
    body["config"] |= change

    assert refuses("experiments/", body, word, field="config")["errors"]


def test_all_faults_are_named_at_once(refuses, body):
    body["config"] |= {"max_turns": 0, "gap_seconds": -1}

    assert set(refuses("experiments/", body)["errors"]) == {"config.max_turns", "config.gap_seconds"}


NEUTRAL = {"model": "sim/neutral:first=0"}
BAD_CAST = [
    ({"A": {"model": "sim/nobody"}}, "cast.A", "sim/nobody"),
    ({"A": {}}, "cast.A", "model"),
    ({"C": {"model": "sim/judge:tps=0:first=0"}}, "cast.C", "no such participant"),
    ({"\udfff": {"model": "sim/judge:tps=0:first=0"}}, "cast", "surrogate"),
    ({"A": {**NEUTRAL, "persona": "x" * 101}}, "cast.A", "persona"),
    ({"A": {**NEUTRAL, "api_key": "sk-1"}}, "cast.A", "api_key"),
    ({"A": {**NEUTRAL, "params": {"temperature": 3}}}, "cast.A", "temperature"),
    ({"A": {**NEUTRAL, "params": {"heat": 1}}}, "cast.A", "heat"),
    ({"A": "sim/neutral:first=0"}, "cast", "dictionary"),
]


@each_case(("change", "field", "word"), BAD_CAST, ids=[ascii(change)[:70] for change, *_ in BAD_CAST])
def test_a_cast_that_cannot_be_seated_is_refused(refuses, body, change, field, word):
    body["cast"] |= change

    assert refuses("experiments/", body, field, word, field=field)["errors"]


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


@each_case(
    ("change", "field"),
    [
        ({"workflow": "chess"}, "workflow"),
        ({"workflow": ["arena"]}, "workflow"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"config": None}, "config"),
        ({"config": {}}, "config"),
        ({"cast": {}}, "cast.A"),
        ({"cast": []}, "cast"),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_by_name(refuses, body, change, field):
    assert refuses("experiments/", body | change, field, field=field)["errors"]


TEXTS = {
    "cut": "{",
    "NaN": '{"workflow": NaN}',
    "NUL": "\x00",
    "Latin": b'{"a": "\xff"}',
    "list": "[1, 2]",
    "open brackets": "[" * 100_000,
    "deep config": '{"workflow":"arena","cast":{},"config":' + '{"a":' * 400 + "1" + "}" * 401,
}


@each_case("text", TEXTS.values(), ids=TEXTS)
def test_a_body_that_is_no_object_in_json_is_refused(refuses, text):
    refuses("experiments/", text)


def test_a_body_of_megabytes_is_refused_unread(refuses, body):
    refuses("experiments/", body | {"title": "x" * 6_000_000}, "too large", status=413)


@each_case("type_", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_another_content_type_is_refused(refuses, body, type_):
    refuses("experiments/", json.dumps(body), "media type", status=415, content_type=type_)


@each_case(
    ("sent", "field"),
    [
        ({"seed": 2**53 + 1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 51}, "repeats"),
        ({"repeats": None}, "repeats"),
        ("[]", ""),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(refuses, arena, sent, field):
    refuses(f"experiments/{arena().pk}/start/", sent, field)


@each_case("key", ["k" * 201, "a\x00b"], ids=["long", "NUL"])
def test_an_idempotency_key_that_cannot_be_stored_is_refused(refuses, arena, key):
    refuses(f"experiments/{arena().pk}/start/", None, "key", Idempotency_Key=key)


@each_case("query", ["experiment=x", "state=asleep", "workflow=%00", "search=%00", "experiment=%00", "state=%ff"])
def test_a_filter_that_makes_no_sense_is_refused_by_name(api, is_problem, query):
    is_problem(api.get(f"runs/?{query}"), 400, query.partition("=")[0])


@each_case("after", ["x", "-1", "1.5", "", "９", "9" * 19, "%00"])
def test_events_after_no_number_are_refused(api, arena, is_problem, after):
    run = Run.objects.create(experiment=arena(), seed=1)

    is_problem(api.get(f"runs/{run.pk}/events/?after={after}"), 400, "after", "whole number")


@each_case(
    ("method", "path", "status"),
    [
        ("DELETE", "experiments/", 405),
        ("PUT", "experiments/01a1fd93-cef6-75d2-b9a8-cd401838a2b6/", 405),
        ("GET", "runs/01a1fd93-cef6-75d2-b9a8-cd401838a2b6/stop/", 405),
        ("GET", "nothing/", 404),
        ("GET", "runs/17/", 404),
    ],
)
def test_a_method_or_an_address_that_there_is_not_is_a_problem_document_too(api, is_problem, method, path, status):
    is_problem(api.send(method, path), status, method if status == 405 else "")


@each_case(
    ("path", "said", "unknown"),
    [
        ("scenarios/", {"title": "Mine", "config": {}, "owner": "ada", "builtin": True}, {"owner", "builtin"}),
        ("experiments/", {"workflow": "arena", "titel": "Panels", "config": {}, "cast": {}}, {"titel"}),
    ],
)
def test_a_field_that_does_not_exist_is_refused_by_name_and_nothing_is_stored(refuses, path, said, unknown):
    assert set(refuses(path, said)["errors"]) == unknown
