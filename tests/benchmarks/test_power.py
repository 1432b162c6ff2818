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


def left(disk, root, rng=None):
    folder = root.parent / f"{root.name}-left"
    disk.leave(folder, rng or Nothing(1))
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_nobody_has_waited_for_is_gone_in_part_or_whole_and_a_renamed_file_is_whole(tmp_path):
    roots = [tmp_path / name for name in "abc"]
    for root in roots:
        root.mkdir()
        (root / "before").write_bytes(b"as it was")
    first, second, third = map(Disk, roots)

    first.note(b"c", FILE, 0, f"{roots[0]}/file\0".encode())
    first.note(b"w", FILE, 0, BLOCK)
    first.note(b"s", FILE, 0, b"")
    assert left(first, roots[0]) == {"before": b"as it was"}  # its content is safe, and its name is not
    first.note(b"d", FOLDER, 0, b"")
    first.note(b"w", FILE, 1024, BLOCK)
    first.note(b"u", 0, 0, f"{roots[0]}/before\0".encode())
    assert left(first, roots[0]) == {"before": b"as it was", "file": BLOCK}

    second.note(b"c", FILE, 0, f"{roots[1]}/file\0".encode())
    second.note(b"d", FOLDER, 0, b"")
    second.note(b"w", FILE, 0, BLOCK)
    contents = {left(second, roots[1], Random(seed))["file"] for seed in range(40)}
    assert contents == {b"", BLOCK[:512], bytes(512) + BLOCK[512:], BLOCK}, "any sector may be left"

    third.note(b"c", FILE, 0, f"{roots[2]}/draft\0".encode())
    third.note(b"w", FILE, 0, b"new")
    third.note(b"s", FILE, 0, b"")
    third.note(b"r", 0, 0, f"{roots[2]}/draft\0{roots[2]}/before\0".encode())
    assert left(third, roots[2]) == {"before": b"as it was"}
    third.note(b"d", FOLDER, 0, b"")
    third.note(b"t", FILE, 1, b"")
    assert left(third, roots[2]) == {"before": b"new"}


@pytest.mark.system
@pytest.mark.exhaustive
@pytest.mark.parametrize(("database", "cuts"), [("sqlite", 50), ("postgresql", 20)])
def test_nothing_that_was_acknowledged_is_missing_after_a_loss_of_power(database, cuts):
    command = [sys.executable, "-m", "benchmarks.power", "--database", database, "--cuts", str(cuts)]
    played = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=1800)

    assert played.returncode == 0, played.stdout + played.stderr
    assert f"power cut {cuts} times; missing afterwards: 0\n" in played.stdout
