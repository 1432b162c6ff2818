"""The OpenAPI description that programs and people are led by, and the page on which people try it.

Routes of other systems keep to it, too, with two exceptions: their lists are as their clients know them, and they take
and give whatever types a client names.
"""

import json
import re
from importlib.resources import files

import jsonschema_rs
import pytest
import yaml
from django.core.management import CommandError, call_command
from drf_spectacular.generators import SchemaGenerator

from tests.experiments.api.handlers import METHODS, handlers

FREE = {"GET /api/health/", "GET /api/health"}  # of whom nothing is asked
OF_OTHERS = ["compatibility"]  # the tag of routes of other systems


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """As the command writes it without a warning, which takes seconds."""
    file = tmp_path_factory.mktemp("schema") / "schema.json"
    call_command("spectacular", "--fail-on-warn", "--format", "openapi-json", file=str(file))
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def operations(schema):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def test_it_is_valid_with_every_reference_and_given_to_anybody_as_yaml_or_json(nobodys, schema, monkeypatch):
    rules = json.loads(files("drf_spectacular.validation").joinpath("openapi_3_1_schema.json").read_text())
    jsonschema_rs.validator_for(rules).validate(schema)
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(schema)):
        place = schema
        for step in reference.split("/"):
            assert step in place, reference
            place = place[step]

    part = {**schema, "paths": {}, "components": {"securitySchemes": schema["components"]["securitySchemes"]}}
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *args, **how: part)

    by_default = nobodys.client.get("/api/schema/")
    as_json = nobodys.client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})

    assert (by_default.status_code, as_json.status_code) == (200, 200)
    assert yaml.safe_load(by_default.content) == as_json.json() == part
    assert schema["openapi"].startswith("3.1")
    assert schema["components"]["securitySchemes"]["bearer"] == {"type": "http", "scheme": "bearer"}


def test_each_handler_is_described_by_a_name_of_its_own_with_all_that_it_can_answer(schema, operations):
    assert len(operations) == len([one for one in handlers() if one.name not in {"api-schema", "api-docs"}])
    explained = {tag["name"] for tag in schema["tags"] if tag["description"]}
    for name, operation in operations.items():
        assert 5 <= len(operation["summary"]) <= 110, (name, operation["summary"])
        assert "\n" not in operation["summary"], name
        assert operation["description"].startswith(operation["summary"][:5]), name
        assert operation["operationId"].replace("_", "").isalnum(), name
        assert operation["operationId"].islower(), name
        assert len(operation["tags"]) == 1, name
        assert ("Scope of a token: `" in operation["description"]) == (name not in FREE), name
        answers = operation["responses"]
        good = {status: answer for status, answer in answers.items() if status.startswith("2")}
        assert good, name
        assert all(answer.get("content") for status, answer in good.items() if status != "204"), name
        for status, answer in answers.items():
            assert len(answer["description"].split()) > 1, (name, status)
            if status.startswith("4"):
                assert list(answer["content"]) == ["application/problem+json"], (name, status)
        if name not in FREE:
            always = {"400", "401", "403", "404", "406", "429"}
            always |= {"413", "415"} if name.split()[0] in {"POST", "PUT", "PATCH"} else set()
            always -= {"406", "415"} if operation["tags"] == OF_OTHERS else set()
            assert always <= set(answers), name
    assert {tag for operation in operations.values() for tag in operation["tags"]} == explained
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    for path, methods in schema["paths"].items():
        assert len({operation["summary"] for operation in methods.values()}) == len(methods), path


def parameters_of(operation):
    return {parameter["name"] for parameter in operation.get("parameters", ())}


def test_what_spends_takes_an_idempotency_key_and_lists_that_can_grow_are_read_page_by_page(schema, operations):
    takes = {name for name, operation in operations.items() if "Idempotency-Key" in parameters_of(operation)}

    assert takes == {name for name, one in operations.items() if "Scope of a token: `spend`" in one["description"]}
    assert all("409" in operations[name]["responses"] for name in takes)

    for name, operation in operations.items():
        if operation["tags"] == OF_OTHERS:
            continue
        text = json.dumps(operation["responses"].get("200", {}))
        for part in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
            fields = set(schema["components"]["schemas"][part].get("properties", {}))
            if "results" in fields:
                assert {"next", "previous"} <= fields, name
                assert "cursor" in parameters_of(operation), name


def test_the_page_for_people_loads_nothing_from_outside_and_runs_under_the_strict_policy(nobodys):
    response = nobodys.client.get("/api/docs/")
    page = response.content.decode()
    addresses = re.findall(r"""(?:src|href)\s*=\s*["']([^"']+)""", page)
    [own] = [a for a in re.findall(r'<script src="([^"]+)"', page) if "static" not in a]
    script = nobodys.client.get(own)

    assert response.status_code == 200
    assert addresses
    assert all(address.startswith("/") and not address.startswith("//") for address in addresses)
    assert not re.search(r"https?://", page)
    assert not re.search(r"<script(?![^>]*src=)", page)
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert "javascript" in script["Content-Type"]
    assert not re.search(r"https?://(?!testserver)", script.content.decode())


def described(*fields):
    usage = {"properties": {name: {"type": "integer"} for name in fields}}
    run = {"properties": {"usage": {"oneOf": [usage, {"type": "null"}]}}}
    results = {"properties": {"results": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}}}
    answer = {"content": {"application/json": {"schema": results}}}
    paths = {"/api/runs/": {"get": {"responses": {"200": answer}}}}
    return json.dumps({"paths": paths, "components": {"schemas": {"Run": run}}})


def test_a_field_that_is_gone_is_named_with_its_place_and_more_fields_are_no_loss(tmp_path, capsys):
    for name, fields in {"old": ["calls", "tokens"], "new": ["calls"], "grown": ["calls", "tokens", "cost"]}.items():
        (tmp_path / name).write_text(described(*fields))

    call_command("compare_schema", tmp_path / "old", tmp_path / "grown")
    with pytest.raises(CommandError, match=r"2 removed\."):
        call_command("compare_schema", tmp_path / "old", tmp_path / "new")

    tokens = "GET /api/runs/ answer 200 .results[].usage.tokens"
    assert capsys.readouterr().out.splitlines() == ["Nothing was removed.", tokens, f"{tokens}: integer"]
