"""What is left of a disk after a loss of power, and of the platform on such a disk."""

import subprocess
import sys
from random import Random

import pytest

from benchmarks.power.disk import Disk
from tests.arenasite.platforms import ROOT, environment

FILE, FOLDER, BLOCK = 7, 8, b"x" * 1024


class Nothing(Random):
    """Nothing is left that nobody has waited for."""

    def choice(self, of):
        return of[0]


@pytest.fixture
def root(tmp_path):
    (tmp_path / "before").write_bytes(b"as it was")
    return tmp_path


def left(disk, root, rng=None):
    folder = root.parent / f"{root.name}-left"
    disk.leave(folder, rng or Nothing(1))
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_nobody_has_waited_for_is_gone(root):
    disk = Disk(root)
    disk.note(b"c", FILE, 0, f"{root}/file\0".encode())
    disk.note(b"w", FILE, 0, BLOCK)
    disk.note(b"s", FILE, 0, b"")

    assert left(disk, root) == {"before": b"as it was"}  # its content is safe, and its name is not
    disk.note(b"d", FOLDER, 0, b"")
    disk.note(b"w", FILE, 1024, BLOCK)
    disk.note(b"u", 0, 0, f"{root}/before\0".encode())
    assert left(disk, root) == {"before": b"as it was", "file": BLOCK}


def test_any_sector_may_be_left(root):
    disk = Disk(root)
    disk.note(b"c", FILE, 0, f"{root}/file\0".encode())
    disk.note(b"d", FOLDER, 0, b"")
    disk.note(b"w", FILE, 0, BLOCK)

    contents = {left(disk, root, Random(seed))["file"] for seed in range(40)}

    assert {b"", BLOCK[:512], bytes(512) + BLOCK[512:], BLOCK} == contents


def test_a_file_that_took_the_name_of_another_is_whole(root):
    disk = Disk(root)
    disk.note(b"c", FILE, 0, f"{root}/draft\0".encode())
    disk.note(b"w", FILE, 0, b"new")
    disk.note(b"s", FILE, 0, b"")
    disk.note(b"r", 0, 0, f"{root}/draft\0{root}/before\0".encode())

    assert left(disk, root) == {"before": b"as it was"}
    disk.note(b"d", FOLDER, 0, b"")
    disk.note(b"t", FILE, 1, b"")
    assert left(disk, root) == {"before": b"new"}


@pytest.mark.system
@pytest.mark.exhaustive
@pytest.mark.parametrize(("database", "cuts"), [("sqlite", 50), ("postgresql", 20)])
def test_nothing_that_was_acknowledged_is_missing_after_a_loss_of_power(database, cuts):
    command = [sys.executable, "-m", "benchmarks.power", "--database", database, "--cuts", str(cuts)]
    played = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=1800)

    assert played.returncode == 0, played.stdout + played.stderr
    assert f"power cut {cuts} times; missing afterwards: 0\n" in played.stdout
