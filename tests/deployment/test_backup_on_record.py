"""A backup goes on record, so that whoever looks after the platform sees how old it is, and whether it was verified."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry
from arenasite.backups.archive import Reader
from experiments.lab.observing import backups
from experiments.lab.observing.counting import BACKUP
from tests.arenasite.platforms import manage
from tests.experiments.observing.conftest import figures, nothing_counted
from tests.fixtures import signed_in

__all__ = ["figures", "nothing_counted"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def taken(tmp_path):
    path = tmp_path / "arena.zip"
    call_command("backup", str(path))
    return path


def test_page_figure_and_api_say_how_old_the_backup_on_record_is_and_whether_it_was_verified(admin, figures, tmp_path):
    boss = signed_in(admin)

    def page():
        caches["memory"].clear()
        return boss.get("/operator/now/").content.decode()

    assert "manage.py backup" in page()
    assert (BACKUP.name,) not in figures()
    (tmp_path / "file").touch()
    with pytest.raises(CommandError):
        call_command("backup", str(tmp_path / "file" / "arena.zip"))
    assert backups.last() is None, "one that was refused is not on record"

    call_command("backup", str(taken := tmp_path / "arena.zip"))
    entry = AuditEntry.objects.get(target=backups.TARGET)
    assert (entry.name, entry.actor_id, entry.action) == ("arena.zip", None, AuditEntry.Action.EXPORTED)
    sha256 = Reader(taken).manifest["digest"]
    assert entry.detail == {"command": "backup", "bytes": taken.stat().st_size, "sha256": sha256}
    assert "arena.zip" in page()
    assert "not verified" in page()
    at = figures()[BACKUP.name,]
    assert timezone.now() - timedelta(minutes=5) < datetime.fromtimestamp(at, UTC) <= timezone.now()
    told = boss.get("/api/operator/").json()["last_backup"]
    assert (told["name"], told["size"], told["verified"]) == ("arena.zip", taken.stat().st_size, None)

    call_command("verify_backup", str(taken))
    assert "not verified" not in page()


def test_a_verification_holds_for_the_backup_that_was_read_wherever_it_lies(taken, tmp_path):
    call_command("backup", str(tmp_path / "newer.zip"))
    call_command("verify_backup", str(taken))
    assert (backups.last().name, backups.last().verified) == ("newer.zip", None)
    copy = (tmp_path / "newer.zip").rename(tmp_path / "copy.zip")
    whole = copy.read_bytes()

    copy.write_bytes(whole[:-20])
    with pytest.raises(CommandError):
        call_command("verify_backup", str(copy))
    assert backups.last().verified is None

    copy.write_bytes(whole)
    call_command("verify_backup", str(copy))
    assert backups.last().verified


@pytest.mark.system
def test_where_there_is_no_database_it_is_verified_all_the_same_and_none_is_made(taken, tmp_path):
    done = manage("verify_backup", str(taken), ARENA_DATA=str(tmp_path / "data"))

    assert done.returncode == 0
    assert "Whole:" in done.stdout
    assert "not on record" in done.stderr
    assert not list(tmp_path.glob("data/**/*.sqlite3"))
