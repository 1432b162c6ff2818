"""What a description of the API has to have, so that programs and people can be led by it.

Routes of other systems keep to it, too, with two exceptions: their lists are as their clients know them, and they take
and give whatever types a client names.
"""

import json

import pytest
from drf_spectacular.generators import SchemaGenerator

from tests.experiments.api.handlers import handlers

METHODS = {"get", "post", "put", "patch", "delete"}
FREE = {"GET /api/health/", "GET /api/health"}  # of whom nothing is asked
OF_OTHERS = ["compatibility"]  # the tag of routes of other systems


@pytest.fixture(scope="module")
def document():
    return SchemaGenerator().get_schema(public=True)


@pytest.fixture(scope="module")
def operations(document):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def test_each_has_a_short_summary_and_a_description(operations):
    for name, operation in operations.items():
        assert 5 <= len(operation["summary"]) <= 110, (name, operation["summary"])
        assert "\n" not in operation["summary"], name
        assert operation["description"].startswith(operation["summary"][:5]), name


def test_two_operations_of_one_address_do_not_say_the_same(document):
    for path, methods in document["paths"].items():
        said = [operation["summary"] for operation in methods.values()]
        assert len(set(said)) == len(said), path


def test_each_has_one_tag_which_is_explained(document, operations):
    explained = {tag["name"] for tag in document["tags"] if tag["description"]}
    used = {tag for operation in operations.values() for tag in operation["tags"]}

    assert all(len(operation["tags"]) == 1 for operation in operations.values())
    assert used == explained


def test_names_of_operations_are_unique_and_of_one_form(operations):
    names = [operation["operationId"] for operation in operations.values()]

    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() and name.islower() for name in names)


def test_each_says_which_scope_it_needs(operations):
    for name, operation in operations.items():
        assert ("Scope of a token: `" in operation["description"]) == (name not in FREE), name


def test_what_goes_wrong_is_a_problem_document(operations):
    for name, operation in operations.items():
        for status, answer in operation["responses"].items():
            if status.startswith("4"):
                assert list(answer["content"]) == ["application/problem+json"], (name, status)


def test_every_answer_is_explained(operations):
    for name, operation in operations.items():
        for status, answer in operation["responses"].items():
            assert len(answer["description"].split()) > 1, (name, status)


def test_each_names_what_it_can_always_answer(operations):
    for name, operation in operations.items():
        if name in FREE:
            continue
        always = {"400", "401", "403", "404", "406", "429"}
        always |= {"413", "415"} if name.split()[0] in {"POST", "PUT", "PATCH"} else set()
        always -= {"406", "415"} if operation["tags"] == OF_OTHERS else set()
        assert always <= set(operation["responses"]), name


def test_what_spends_takes_an_idempotency_key_and_nothing_else_does(operations):
    takes = {
        operation["operationId"]
        for operation in operations.values()
        if "Idempotency-Key" in {parameter["name"] for parameter in operation.get("parameters", ())}
    }
    spending = {name for name, one in operations.items() if "Scope of a token: `spend`" in one["description"]}

    assert takes == {operations[name]["operationId"] for name in spending}
    assert all("409" in operations[name]["responses"] for name in spending)


def test_every_handler_is_in_it_but_pictures_and_the_document_itself(operations):
    assert len(operations) == len([one for one in handlers() if one.name not in {"api-schema", "api-docs"}])


def test_lists_that_can_grow_are_read_page_by_page(document, operations):
    """Every `results` comes with the way to the next page."""
    for name, operation in operations.items():
        if operation["tags"] == OF_OTHERS:
            continue
        text = json.dumps(operation["responses"].get("200", {}))
        for schema in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
            fields = set(document["components"]["schemas"][schema].get("properties", {}))
            if "results" in fields:
                assert {"next", "previous"} <= fields, name
                assert "cursor" in {parameter["name"] for parameter in operation["parameters"]}, name
