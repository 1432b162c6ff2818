"""The API is asked everything that its schema allows, and some of what it does not, by people of three roles: it never
fails, and answers nothing that the schema does not say. The things asked for are there, so that answers are looked at.

The schema itself describes every handler. Routes of other systems keep to it, too, with two exceptions: their lists are
as their clients know them, and they take and give whatever types a client names.
"""

import json
import re
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import hypothesis
import jsonschema_rs
import pytest
import requests
import schemathesis
import yaml
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import Phase, given
from schemathesis import GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks

from accounts.models import Membership
from accounts.tokens import create_token
from experiments.api.compatibility import waiting
from tests.experiments.api.handlers import METHODS, handlers
from tests.experiments.rights.people import lab_of
from tests.experiments.rights.things import Things

LIKELY = 4  # requests of each operation that the schema allows
OF_EVERYBODY = ("owner", "reviewer", "admin")
ODD_BODIES = [b"", b"{", b"null", b"{}", b"[" * 2000, b'{"\\u0000": "\\ud800"}']
ODD_WORDS = ["", "-1", "9" * 40, "%F0", "\0", "\ud7ff\U0010ffff"]
FEW = 2  # words and bodies, from the end, where not all are sent
OF_EVERY_LIST = {"cursor", "page_size"}  # read in one place for all of them
DOWN_OR_WAITING = {  # say with their status that a part is down, or that nobody plays what they wait for
    "/api/health/",
    "/api/health",
    "/api/conversations/{id}/message",
    "/api/llm/test",
}
OF_ADMINISTRATORS = {"GET /api/people/", "GET /api/people/{id}/", "GET /api/audit/"}
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
HOW: dict[str, Any] = {"database": None, "deadline": None, "derandomize": True, "phases": [Phase.generate]}


@cache
def cases(most: int) -> list[Any]:
    """Requests of every operation, at most so many of each: the same for everybody and in every session. Whoever
    asks signs in, and puts ids into the address.
    """
    document = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    document["components"].pop("securitySchemes")
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)
            operation["parameters"] = [one for one in operation.get("parameters", ()) if one["in"] != "path"]
    operations = schemathesis.openapi.from_dict(document).get_all_operations()
    return [case for found in operations for case in likely(found.ok(), most)]


def likely(operation: Any, most: int) -> list[Any]:
    found: list[Any] = []

    @hypothesis.settings(max_examples=most, suppress_health_check=list(hypothesis.HealthCheck), **HOW)
    @given(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def draw(case: Any) -> None:
        found.append(case)

    draw()
    return found


class Asker:
    """One person with a token. Whatever a request has moved is taken back."""

    def __init__(self, person: Any, things: Things) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {create_token(person)}"})
        self._routes = {(path_of(one.route), one.method): (one.name, one.route) for one in handlers()}
        self._things = things
        self._sent: set[Any] = set()
        self.wrong: list[str] = []
        self.statuses: dict[str, set[int]] = {}
        self.misspelt: set[str] = set()  # operations to which a field was said that they do not have
        self._client.get("/api/runs/")  # that the token is in use is recorded before anything is taken back

    def ask(self, case: Any) -> None:
        """As the schema allows it."""
        name, route = self._routes[nameless(case.operation.path), case.method.lower()]
        address = self._things.address(name, route)
        case.path_parameters = dict.fromkeys(re.findall(r"{(\w+)}", case.operation.path), "x")
        sent = requests.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
        query = f"?{sent.url.partition('?')[2]}" if "?" in str(sent.url) else ""
        body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
        headers = {k: v for k, v in sent.headers.items() if k in {"Idempotency-Key", "Accept"}}
        status = self._send(case, f"{address}{query}", body, sent.headers.get("Content-Type", ""), headers)
        is_ours = case.operation.path.endswith("/")  # clients of other systems say more than is read
        if is_ours and status and status < 300 and isinstance(case.body, dict) and body[:1] == b"{":
            self._misspell(case, f"{address}{query}", case.body)

    def _misspell(self, case: Any, address: str, body: dict[str, Any]) -> None:
        said = json.dumps({**body, "misspelt": 1}).encode()
        status = self._send(case, address, said, "application/json", {})
        self.misspelt.add(case.operation.label)
        if status != 400:
            self.wrong.append(f"{case.method} {address[:150]} {said[:150]!r}: {status}, with a field that is not there")

    def ask_oddly(self, case: Any, most: int) -> None:
        """Send invalid values: at most `most` for each query parameter, and at most as many bodies."""
        name, route = self._routes[nameless(case.operation.path), case.method.lower()]
        address = self._things.address(name, route)
        for parameter in case.operation.query:
            for word in ODD_WORDS[-1:] if parameter.name in OF_EVERY_LIST else ODD_WORDS[-most:]:
                self._send(case, f"{address}?{urlencode({parameter.name: word})}", b"", "", {})
        if case.operation.body:
            for body in ODD_BODIES[-most:]:
                self._send(case, address, body, "application/json", {})
            self._send(case, address, b"<a/>", "application/xml", {"Accept": "image/png"})
        self._send(case, address.replace(str(self._things.arena.pk), str(uuid4())), b"", "", {})

    def _send(self, case: Any, address: str, body: bytes, content_type: str, headers: dict[str, str]) -> int | None:
        """The status; None for what was sent before."""
        request = (case.method, address, body, content_type, *headers.items())
        if request in self._sent:
            return None
        self._sent.add(request)
        with transaction.atomic():
            answer = self._client.generic(case.method, address, body, content_type, headers=headers)
            content = content_of(answer)
            transaction.set_rollback(True)
        self.statuses.setdefault(case.operation.label, set()).add(answer.status_code)
        if answer.status_code >= 500 and case.operation.path not in DOWN_OR_WAITING:
            self.wrong.append(f"{case.method} {address[:150]} {body[:150]!r}: {answer.status_code}")
        asked = httpx.Request(case.method, f"http://testserver{address}", content=body)
        given = httpx.Response(answer.status_code, headers=list(answer.items()), content=content, request=asked)
        given.elapsed = timedelta()
        try:
            case.validate_response(given, checks=CHECKS)
        except (FailureGroup, Failure) as failure:
            reasons = getattr(failure, "exceptions", [failure])
            said = "; ".join(" ".join(f"{one.title}: {one.message}".split())[:300] for one in reasons)
            self.wrong.append(f"{case.method} {address[:150]} {body[:150]!r}: {answer.status_code} {said}")
        return int(answer.status_code)


def content_of(answer: Any) -> bytes:
    """Nothing of what goes on until a run is over."""
    if answer.streaming:
        return b"" if answer.is_async else b"".join(answer)
    return bytes(answer.content)


def nameless(path: str) -> str:
    return re.sub(r"{\w+}", "{}", path)


def path_of(route: str) -> str:
    """An address as the schema writes it, but for the names of its words."""
    return "/" + re.sub(r"<[^>]*>", "{}", route)


@pytest.fixture
def things(provider, alice, played, starchamber, start, drive, tmp_path, settings, woken_runs, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.0)
    settings.IMAGES_DIR, settings.SIGNUP = tmp_path, "invite"
    lab = lab_of(alice)
    for who in ("reviewer", "admin"):  # so that there is something that they may know of
        Membership.objects.create(project=lab.project, user=lab.people[who], role=Membership.Role.MEMBER)
    talk = start(starchamber("sim/cooperative:first=0:words=5"))
    drive()
    return lab, Things(lab, played(max_turns=1), talk, tmp_path)


@pytest.mark.system
@pytest.mark.parametrize(
    "in_all", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["the simplest", "all"]
)
def test_it_never_fails_and_answers_people_of_three_roles_as_the_schema_says(things, in_all):
    """In the exhaustive tests the owner asks everything; the others ask the simplest of each operation, since what
    differs is what they may do.
    """
    lab, alices = things
    simplest = {case.operation.label: case for case in reversed(cases(LIKELY if in_all else 1))}.values()
    wrong, good, misspelt = [], {}, {}
    for who in OF_EVERYBODY:
        asker = Asker(lab.people[who], alices)
        for case in cases(LIKELY) if in_all and who == "owner" else simplest:
            asker.ask(case)
            if who == "owner":
                asker.ask_oddly(case, len(ODD_WORDS) if in_all else FEW)
        wrong += [f"{who}: {said}" for said in asker.wrong]
        good[who] = {label for label, statuses in asker.statuses.items() if min(statuses) < 300}
        misspelt[who] = asker.misspelt

    assert not wrong, "\n".join(wrong)
    assert len(good["owner"]) > 0.6 * len(simplest), {case.operation.label for case in simplest} - good["owner"]
    assert good["admin"] >= OF_ADMINISTRATORS
    assert len(misspelt["owner"]) > 20


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
