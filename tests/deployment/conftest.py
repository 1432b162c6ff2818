from pathlib import Path

import pytest
from django.core.management import call_command

from tests.making import maker


@pytest.fixture(autouse=True)
def folders_of_their_own(settings, tmp_path):
    """The files of one test are none of another's."""
    for name in ("IMAGES", "UPLOADS", "EXPORTS"):
        setattr(settings, f"{name}_DIR", tmp_path / "here" / name.lower())


@pytest.fixture
def idle(redis_server):
    """No worker is remembered in Redis, as if the last one had been silent for a minute."""
    redis_server.stop()
    redis_server.start()


@maker
def backup(tmp_path, /, *options: str) -> Path:
    """Takes a backup, and says where it is."""
    path = tmp_path / "kept" / f"{len(list(tmp_path.glob('kept/*')))}.zip"
    call_command("backup", str(path), *options)
    return path
