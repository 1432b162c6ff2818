"""The description of the API that programs read, and the page on which people try it."""

import json
import re

import pytest
from django.core.management import call_command

from tests.experiments.reports.deliberations import council

pytestmark = pytest.mark.django_db

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture
def schema(nobodys):
    response = nobodys.client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    assert response.status_code == 200
    return json.loads(response.content)


def operations(schema):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def test_it_is_openapi_3_1_and_needs_no_signing_in(schema):
    assert schema["openapi"].startswith("3.1")
    assert schema["info"]["title"] == "Arena Lab"


def test_it_is_served_as_yaml_by_default(nobodys):
    response = nobodys.client.get("/api/schema/")

    assert response.status_code == 200
    assert response.content.decode().startswith("openapi: 3.1")


def test_every_public_address_is_in_it(schema):
    assert set(operations(schema)) >= {
        "GET /api/health/",
        "GET /api/models/",
        "GET /api/experiments/",
        "POST /api/experiments/",
        "GET /api/experiments/{id}/",
        "POST /api/experiments/{id}/start/",
        "GET /api/runs/",
        "GET /api/runs/{id}/",
        "POST /api/runs/{id}/stop/",
        "POST /api/runs/{id}/resume/",
        "GET /api/runs/{id}/report/",
        "GET /api/runs/{id}/messages/",
        "GET /api/runs/{id}/judgments/",
        "GET /api/runs/{id}/calls/",
        "GET /api/runs/{id}/events/",
        "GET /api/runs/{id}/ballots/",
        "GET /api/runs/{id}/ranking/",
        "POST /api/runs/{id}/ask/",
        "PUT /api/runs/{id}/draft/",
        "POST /api/runs/{id}/lift/",
    }


def test_every_operation_is_described_with_what_it_answers(schema):
    for name, operation in operations(schema).items():
        assert operation.get("description") or operation.get("summary"), name
        assert operation["operationId"], name
        nothing = operation["responses"].get("204")
        good = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        assert good, name
        assert all(answer.get("content") for answer in good if answer is not nothing), name


def test_every_operation_names_its_problems(schema):
    for name, operation in operations(schema).items():
        if name not in {"GET /api/health/", "GET /api/health"}:
            problem = operation["responses"]["401"]["content"]
            assert "Problem" in json.dumps(problem), name


def test_names_of_operations_are_unique(schema):
    names = [operation["operationId"] for operation in operations(schema).values()]

    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere(schema):
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(schema)):
        place = schema
        for step in reference.split("/"):
            assert step in place, reference
            place = place[step]


def test_signing_in_is_by_bearer_token(schema):
    assert schema["components"]["securitySchemes"]["bearer"] == {"type": "http", "scheme": "bearer"}


def test_the_idempotency_key_and_the_filters_are_described(schema):
    start = operations(schema)["POST /api/experiments/{id}/start/"]
    assert "Idempotency-Key" in {parameter["name"] for parameter in start["parameters"]}
    runs = {parameter["name"] for parameter in operations(schema)["GET /api/runs/"]["parameters"]}
    assert runs >= {"experiment", "workflow", "state", "search", "cursor"}
    events = {parameter["name"] for parameter in operations(schema)["GET /api/runs/{id}/events/"]["parameters"]}
    assert "after" in events


def answered(schema, name, status="200"):
    """The names that the schema gives to what an operation answers."""
    [content] = operations(schema)[name]["responses"][status]["content"].values()
    return resolved(schema, content["schema"])


def resolved(schema, part):
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return part


def test_what_is_described_is_what_is_answered(schema, api, played, body):
    run = played(max_turns=1)
    for name, path in [
        ("GET /api/runs/{id}/messages/", f"runs/{run.pk}/messages/"),
        ("GET /api/runs/{id}/judgments/", f"runs/{run.pk}/judgments/"),
        ("GET /api/runs/{id}/calls/", f"runs/{run.pk}/calls/"),
        ("GET /api/runs/{id}/events/", f"runs/{run.pk}/events/"),
        ("GET /api/runs/", "runs/"),
        ("GET /api/experiments/", "experiments/"),
        ("GET /api/models/", "models/"),
    ]:
        page = answered(schema, name)
        row = resolved(schema, page["properties"]["results"]["items"])
        answer = api.get(path).json()
        assert set(answer) == set(page["properties"]), name
        assert set(answer["results"][0]) == set(row["properties"]), name
    assert set(api.get(f"runs/{run.pk}/").json()) == set(answered(schema, "GET /api/runs/{id}/")["properties"])


def test_what_is_described_of_councils_is_what_is_answered(schema, api, alice):
    run = council(alice).run
    row = resolved(schema, answered(schema, "GET /api/runs/{id}/ballots/")["properties"]["results"]["items"])
    assert set(api.get(f"runs/{run.pk}/ballots/").json()["results"][0]) == set(row["properties"])

    ranking, found = answered(schema, "GET /api/runs/{id}/ranking/"), api.get(f"runs/{run.pk}/ranking/").json()
    assert set(found) == set(ranking["properties"])
    for name in ("standings", "orders", "on_winner", "position_effect", "abstained"):
        assert set(found[name][0]) == set(resolved(schema, ranking["properties"][name]["items"])["properties"]), name


def test_it_is_made_without_a_warning(tmp_path, db):
    call_command("spectacular", "--validate", "--fail-on-warn", file=str(tmp_path / "schema.yml"))


def test_the_page_for_people_loads_nothing_from_outside(nobodys):
    response = nobodys.client.get("/api/docs/")
    page = response.content.decode()

    assert response.status_code == 200
    addresses = re.findall(r"""(?:src|href)\s*=\s*["']([^"']+)""", page)
    assert addresses
    assert all(address.startswith("/") and not address.startswith("//") for address in addresses)
    assert not re.search(r"https?://", page)


def test_the_script_of_the_page_names_no_address_outside(nobodys):
    page = nobodys.client.get("/api/docs/").content.decode()
    [script] = [a for a in re.findall(r'<script src="([^"]+)"', page) if "static" not in a]

    response = nobodys.client.get(script)

    assert "javascript" in response["Content-Type"]
    assert not re.search(r"https?://(?!testserver)", response.content.decode())


def test_the_page_runs_under_the_strict_policy(nobodys):
    response = nobodys.client.get("/api/docs/")

    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*src=)", response.content.decode())
