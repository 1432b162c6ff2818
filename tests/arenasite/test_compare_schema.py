"""A description of the API is compared with an earlier one: what was promised has to stay."""

import json

import pytest
from django.core.management import CommandError, call_command


def document(*fields, path="/api/runs/"):
    run = {
        "properties": {"id": {}, "usage": {"oneOf": [{"properties": {name: {} for name in fields}}, {"type": "null"}]}}
    }
    results = {"properties": {"results": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}}}
    answer = {"content": {"application/json": {"schema": results}}}
    return {"paths": {path: {"get": {"responses": {"200": answer}}}}, "components": {"schemas": {"Run": run}}}


@pytest.fixture
def compare(tmp_path, capsys):
    def run(**documents):
        for name, content in documents.items():
            (tmp_path / name).write_text(json.dumps(content))
        call_command("compare_schema", str(tmp_path / "old"), str(tmp_path / "new"))

    return run


def test_more_fields_and_operations_are_no_loss(compare, capsys):
    more = document("calls", "tokens")
    more["paths"] |= document(path="/api/more/")["paths"]
    compare(old=document("calls"), new=more)

    assert capsys.readouterr().out == "Nothing was removed.\n"


def test_a_field_that_is_gone_is_named_with_its_place(compare, capsys):
    with pytest.raises(CommandError, match=r"1 removed\."):
        compare(old=document("calls", "tokens"), new=document("calls"))

    assert capsys.readouterr().out == "GET /api/runs/ answer 200 results.[].usage.tokens\n"
