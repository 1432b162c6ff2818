"""What the platform is made of: pinned with digests, listed with licences, and asked about."""

import json
import re
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from django.core.management import CommandError, call_command

from arenasite.supply import licences, locks, sbom
from arenasite.supply.advisories import NoAnswer, known_against
from tests.cases import each_case

ROOT = Path(__file__).parents[3]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-bench.lock", "requirements-fuzz.lock")
ADDRESS = r"https?://|@ |^\s*-[ifecr]\b"
ELSEWHERE = re.compile(ADDRESS + r"|--(?:index-url|extra-index-url|find-links|trusted-host|editable)")


@each_case("name", LOCKS)
def test_every_package_is_pinned_to_one_version_with_the_digests_of_its_files(name):
    packages = locks.read(ROOT / name)

    assert len(packages) > 30
    assert [one.name for one in packages if not one.hashes] == []
    assert [one.name for one in packages if len({*one.hashes}) != len(one.hashes)] == []


@each_case("name", LOCKS)
def test_no_lock_names_a_registry_a_folder_or_an_address(name):
    lines = (ROOT / name).read_text().splitlines()

    assert [line for line in lines if ELSEWHERE.search(line)] == []


def test_the_makefile_installs_by_digest_alone():
    installs = [line for line in (ROOT / "Makefile").read_text().splitlines() if re.search(r"install .*-r ", line)]

    assert len(installs) == 2
    assert all("--require-hashes" in line for line in installs)


def test_what_is_no_pin_is_not_read(tmp_path):
    for line in ("--index-url https://registry.example", "django>=5", "x @ https://registry.example/x.whl"):
        lock = tmp_path / "a.lock"
        lock.write_text(f"attrs==26.1.0 \\\n    --hash=sha256:{'0' * 64}\n{line}\n")
        with pytest.raises(locks.UnreadableLock):
            locks.read(lock)


def test_what_the_tests_and_the_platform_share_has_one_version():
    ours = {(one.name, one.marker): one.version for one in locks.read(ROOT / "requirements.lock")}
    tests = {(one.name, one.marker): one.version for one in locks.read(ROOT / "requirements-dev.lock")}

    assert {key for key, version in ours.items() if tests.get(key, version) != version} == set()


@pytest.fixture(scope="module")
def bom(tmp_path_factory):
    path = tmp_path_factory.mktemp("sbom") / "sbom.json"
    call_command("sbom", "--output", str(path))
    return path.read_text()


def test_the_sbom_is_valid(bom):
    assert make_schemabased_validator(OutputFormat.JSON, SchemaVersion.V1_6).validate_str(bom) is None


def test_the_sbom_names_every_locked_package_with_version_licence_and_digests(bom):
    found = json.loads(bom)["components"]

    assert {(one["name"], one["version"]) for one in found} == {
        (one.name, one.version) for one in locks.read(ROOT / "requirements.lock")
    }
    assert [one["name"] for one in found if "expression" not in one["licenses"][0]] == []
    assert [one["name"] for one in found if not one["externalReferences"][0]["hashes"]] == []


def test_the_sbom_says_who_wants_whom(bom):
    wants = {one["ref"]: one["dependsOn"] for one in json.loads(bom)["dependencies"]}
    direct = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[\w-]+", one)[0].lower() for one in direct}

    assert names - {ref.partition("@")[0].removeprefix("pkg:pypi/") for ref in wants["arena-lab"]} == set()
    assert any(ref.startswith("pkg:pypi/asgiref@") for ref in wants[next(r for r in wants if "/django@" in r)])


def test_the_same_lock_gives_the_same_bytes(bom, capsys):
    call_command("sbom")

    assert capsys.readouterr().out == bom


def test_every_licence_is_acceptable():
    of = {one.name: licences.licence_of(one.name) for one in locks.read(ROOT / "requirements.lock")}

    assert {name: text for name, text in of.items() if not licences.is_acceptable(text)} == {}


def test_a_licence_that_is_not_is_refused(tmp_path):
    assert not licences.is_acceptable("GPL-3.0-or-later")
    assert not licences.is_acceptable("MIT AND AGPL-3.0-only")
    assert not licences.is_acceptable(licences.UNKNOWN)
    assert licences.is_acceptable("GPL-2.0-only OR MIT")
    lock = tmp_path / "a.lock"
    lock.write_text(f"djlint==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(CommandError, match="djlint"):
        call_command("sbom", "--lock", str(lock), "--output", str(tmp_path / "b.json"))


class Service:
    """What osv.dev answers, on this machine."""

    def __init__(self, answer):
        self.asked, self.answer = [], answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, asked))
                body = json.dumps(outer.answer(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def osv():
    made = []

    def make(answer):
        made.append(Service(answer))
        return made[-1]

    yield make
    for one in made:
        one.server.shutdown()
        one.server.server_close()


def against(*names):
    def answer(asked):
        vulns = {"vulns": [{"id": "PYSEC-0000-1"}]}
        return {"results": [vulns if one["package"]["name"] in names else {} for one in asked["queries"]]}

    return answer


@pytest.mark.system
def test_every_lock_is_asked_about_and_nothing_known_is_said(osv, capsys):
    service = osv(against())

    call_command("audit_dependencies", "--service", service.address)

    asked = {(one["package"]["name"], one["version"]) for _path, batch in service.asked for one in batch["queries"]}
    assert asked == {(one.name, one.version) for name in LOCKS for one in locks.read(ROOT / name)}
    assert "Nothing is known against" in capsys.readouterr().out


@pytest.mark.system
def test_what_is_known_is_named_and_the_exit_code_says_so(osv, capsys):
    with pytest.raises(CommandError) as failed:
        call_command("audit_dependencies", "--service", osv(against("django")).address)

    assert failed.value.returncode == 1
    assert re.search(r"^django \S+: PYSEC-0000-1", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.system
def test_no_answer_is_no_good_news_and_has_a_code_of_its_own():
    with pytest.raises(CommandError, match="Nothing was learnt, good or bad") as failed:
        call_command("audit_dependencies", "--service", "http://127.0.0.1:1")

    assert failed.value.returncode == 3


@pytest.mark.system
@each_case("answer", [{"results": []}, {}, [], {"results": None}, {"results": [{"vulns": [1]}]}])
def test_an_answer_that_makes_no_sense_is_none(osv, answer):
    packages = locks.read(ROOT / "requirements.lock")[:1]

    with pytest.raises(NoAnswer):
        known_against(packages, service=osv(lambda asked: answer).address)


def test_the_list_has_no_time_in_it():
    one = locks.Package("attrs", "26.1.0", "", ("0" * 64,), ("arena-lab",))

    assert sbom.document([one], version="1") == sbom.document([one], version="1")
    assert sbom.document([one], version="1")["serialNumber"] != sbom.document([one], version="2")["serialNumber"]
