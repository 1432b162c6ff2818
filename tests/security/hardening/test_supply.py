"""What the platform is made of: pinned with digests, listed with licences, and asked about."""

import json
import re
import tomllib
from contextlib import ExitStack
from pathlib import Path

import pytest
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from django.core.management import CommandError, call_command

from arenasite.supply import licences, locks
from arenasite.supply.advisories import NoAnswer, known_against
from tests.answering import answering
from tests.cases import each_case

ROOT = Path(__file__).parents[3]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-bench.lock", "requirements-fuzz.lock")
ADDRESS = r"https?://|@ |^\s*-[ifecr]\b"
ELSEWHERE = re.compile(ADDRESS + r"|--(?:index-url|extra-index-url|find-links|trusted-host|editable)")


@each_case("name", LOCKS)
def test_every_package_is_pinned_with_the_digests_of_its_files_and_comes_from_no_other_place(name):
    packages = locks.read(ROOT / name)
    lines = (ROOT / name).read_text().splitlines()

    assert len(packages) > 30
    assert [one.name for one in packages if not one.hashes or len({*one.hashes}) != len(one.hashes)] == []
    assert [line for line in lines if ELSEWHERE.search(line)] == []


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


@pytest.mark.exhaustive
def test_the_sbom_is_valid(bom):
    assert make_schemabased_validator(OutputFormat.JSON, SchemaVersion.V1_6).validate_str(bom) is None


def test_the_sbom_names_every_locked_package_with_licence_and_digests_and_who_wants_it(bom, capsys):
    told = json.loads(bom)
    assert {(one["name"], one["version"]) for one in told["components"]} == {
        (one.name, one.version) for one in locks.read(ROOT / "requirements.lock")
    }
    assert [one["name"] for one in told["components"] if "expression" not in one["licenses"][0]] == []
    assert [one["name"] for one in told["components"] if not one["externalReferences"][0]["hashes"]] == []

    wants = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    direct = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[\w-]+", one)[0].lower() for one in direct}
    assert names - {ref.partition("@")[0].removeprefix("pkg:pypi/") for ref in wants["arena-lab"]} == set()
    assert any(ref.startswith("pkg:pypi/asgiref@") for ref in wants[next(r for r in wants if "/django@" in r)])

    call_command("sbom")
    assert capsys.readouterr().out == bom, "the same lock gives the same bytes"


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


@pytest.fixture
def osv():
    """`osv(answer)` stands in for osv.dev, on this machine: its address."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(answering(lambda asked: answer(json.loads(asked.body))))


def against(*names):
    def answer(asked):
        vulns = {"vulns": [{"id": "PYSEC-0000-1"}]}
        return {"results": [vulns if one["package"]["name"] in names else {} for one in asked["queries"]]}

    return answer


@pytest.mark.system
def test_every_lock_is_asked_about_and_the_exit_code_says_whether_anything_is_known(osv, capsys):
    batches = []
    service = osv(lambda asked: batches.append(asked) or against()(asked))

    call_command("audit_dependencies", "--service", service)

    asked = {(one["package"]["name"], one["version"]) for batch in batches for one in batch["queries"]}
    assert asked == {(one.name, one.version) for name in LOCKS for one in locks.read(ROOT / name)}
    assert "Nothing is known against" in capsys.readouterr().out

    with pytest.raises(CommandError) as failed:
        call_command("audit_dependencies", "--service", osv(against("django")))
    assert failed.value.returncode == 1
    assert re.search(r"^django \S+: PYSEC-0000-1", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.system
def test_no_answer_is_no_good_news_and_has_a_code_of_its_own(osv):
    with pytest.raises(CommandError) as failed:
        call_command("audit_dependencies", "--service", "http://127.0.0.1:1")
    assert failed.value.returncode == 3

    packages = locks.read(ROOT / "requirements.lock")[:1]
    for answer in ({"results": []}, {}, [], {"results": None}, {"results": [{"vulns": [1]}]}):
        with pytest.raises(NoAnswer):
            known_against(packages, service=osv(lambda _asked, answer=answer: answer))
