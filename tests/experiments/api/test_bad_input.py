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
