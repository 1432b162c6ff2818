"""A description of the API is compared with an earlier one: what was promised has to stay."""

import json

import pytest
from django.core.management import CommandError, call_command


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
