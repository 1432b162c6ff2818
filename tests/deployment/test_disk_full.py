"""What happens when a disk is full, on real ones of some megabytes: one of files, one of the database.

The tests themselves are in `disk_full.py`: they need a mount of their own, which an ordinary user may make in a
namespace only, and are run there in a process of their own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

INSIDE = Path(__file__).with_name("disk_full.py")
MOUNTED = """
    mkdir "$0/files" "$0/database"
    mount -t tmpfs -o size=6m small "$0/files"
    mount -t tmpfs -o size=24m small "$0/database"
    exec "$@"
"""


def test_a_full_disk_loses_nothing_and_is_said_in_words():
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    tests = [sys.executable, "-m", "pytest", str(INSIDE), "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider"]
    left_out = ("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "DATABASE_URL", "ARENA_TEST_DATABASE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with tempfile.TemporaryDirectory(prefix="disks-") as disks:  # that of a socket on it may have 107 bytes
        environment |= {"SMALL_DISKS": disks, "TMPDIR": f"{disks}/database"}
        inside = [*namespace, "sh", "-ec", MOUNTED, disks, *tests]
        done = subprocess.run(inside, env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "5 passed" in done.stdout
