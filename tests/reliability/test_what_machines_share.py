"""A machine that lacks what the others have is told so in words before it does anything."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection

from accounts import machines
from accounts.models import CommonMark
from experiments.lab import machine
from experiments.tasks import clock
from tests.fixtures import environment

pytestmark = pytest.mark.django_db
OLD, NEW = "an old secret of the lab, long enough", "a new secret of the lab, long enough!"


@pytest.fixture(autouse=True)
def shared(monkeypatch, settings, tmp_path):
    """As on PostgreSQL, wherever the test runs: SQLite is a file of one machine."""
    monkeypatch.setattr(machines, "connection", SimpleNamespace(vendor="postgresql", close=lambda: None))
    settings.DATA_DIR, settings.FILES_DIR = tmp_path / "data", tmp_path / "files"
    settings.REDIS_IS_EMBEDDED, settings.KEY_SECRETS = False, [OLD]
    return settings


@pytest.fixture
def another(shared, tmp_path):
    """Says what a machine hears that has all but these settings in common with the first one."""
    machines.require_same()

    def hear(**fields):
        for name, value in fields.items():
            setattr(shared, name, value)
        return " ".join(machines.differences())

    return hear


def test_a_machine_hears_nothing_but_what_it_has_not_in_common_with_the_first(another, shared, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "elsewhere").symlink_to(tmp_path / "files")
    first = {name: getattr(shared, name) for name in ("SECRET_KEY", "KEY_SECRETS", "FILES_DIR", "REDIS_IS_EMBEDDED")}

    assert another() == ""
    assert another(FILES_DIR=tmp_path / "elsewhere") == "", "the same directory, mounted elsewhere"
    for name, value, said in (
        ("SECRET_KEY", "x" * 50, "another ARENA_SECRET_KEY"),
        ("KEY_SECRETS", [NEW], "ARENA_KEY_SECRETS"),
        ("FILES_DIR", tmp_path / "other", str(tmp_path / "other")),
        ("REDIS_IS_EMBEDDED", True, "REDIS_URL"),
    ):
        assert said in another(**first | {name: value}), name
    (tmp_path / "file").touch()
    assert "cannot be used" in another(**first | {"FILES_DIR": tmp_path / "file" / "below"})

    changed = {"SECRET_KEY": "y" * 50, "KEY_SECRETS": [NEW]}
    assert another(**first | changed)
    call_command("accept_machine")
    assert machines.differences() == [], "what was changed on purpose is accepted"
    marks = dict(CommonMark.objects.values_list("name", "mark"))
    assert {"secret_key", "key_secrets"} <= marks.keys()
    assert not any(secret in mark for secret in ("y" * 50, NEW) for mark in marks.values())


def test_a_secret_is_changed_machine_by_machine_and_the_old_one_then_goes(another):
    assert another(KEY_SECRETS=[OLD, NEW]) == ""
    assert another(KEY_SECRETS=[NEW, OLD]) == ""
    assert another(KEY_SECRETS=[OLD, NEW]) == ""  # one that was not restarted yet
    assert another(KEY_SECRETS=[NEW, OLD]) == ""
    assert another(KEY_SECRETS=[NEW]) == ""
    assert another(KEY_SECRETS=[OLD]) != ""


def test_two_machines_each_with_a_redis_of_its_own_are_told_until_they_share_one(shared, tmp_path):
    shared.REDIS_IS_EMBEDDED = True
    machines.require_same()
    machines.require_same()
    shared.DATA_DIR = tmp_path / "data of another machine"

    with pytest.raises(machines.Different) as told:
        machines.require_same()

    assert "REDIS_URL" in str(told.value)
    assert "accept_machine" in str(told.value)
    shared.DATA_DIR, shared.REDIS_IS_EMBEDDED = tmp_path / "data", False
    assert machines.differences() == [], "the first one changes to a common Redis"


def test_health_tells_a_clock_that_is_wrong_and_a_machine_that_differs(client, monkeypatch, another):
    right = clock.read
    for off in (-3600, 3600):
        monkeypatch.setattr(clock, "read", lambda off=off: right() - clock.timedelta(seconds=off))
        part = client.get("/api/health/").json()["services"]["machine"]
        assert (part["ok"], "3600 seconds" in part["detail"]) == (True, True)
        assert round(machine.seconds_off()) == off

    another(SECRET_KEY="x" * 50)
    part = client.get("/api/health/").json()["services"]["machine"]
    assert (part["ok"], "ARENA_SECRET_KEY" in part["detail"]) == (False, True)


if connection.vendor == "postgresql":  # SQLite is a file of one machine, which starts whatever it has

    @pytest.mark.databases
    @pytest.mark.system
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize(
        "command",
        [
            ("manage.py", "rqworker", "engine", "--burst"),
            ("-m", "arenasite.bounded_daphne", "-p", "0", "arenasite.asgi:application"),
            ("manage.py", "up", "--port", "0"),
            ("manage.py", "check", "--database", "default"),
        ],
        ids=["worker", "web", "up", "check"],
    )
    def test_nothing_starts_on_a_machine_that_differs(command, tmp_path):
        CommonMark.objects.create(name="secret_key", mark="of another one")
        variables = {"ARENA_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "arenasite.settings"}

        ended = subprocess.run(
            [sys.executable, *command], env=environment() | variables, capture_output=True, text=True, timeout=240
        )

        assert ended.returncode not in (0, None)
        assert "another ARENA_SECRET_KEY" in ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
