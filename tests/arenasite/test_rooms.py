"""The small parts of the supervisor."""

import os
import socket
import time

import pytest

from arenasite.supervisor import directories, logs, ports, redis, supervisor
from arenasite.supervisor.children import Child
from arenasite.supervisor.errors import CannotStart


def test_a_private_directory_is_closed_to_others(tmp_path):
    (tmp_path / "run").mkdir(mode=0o755)

    directories.prepare_private(tmp_path / "run")

    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


def test_somebody_elses_directory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    monkeypatch.setattr(directories.os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)

    with pytest.raises(CannotStart, match="belongs to somebody else"):
        directories.prepare_private(tmp_path / "run")


def test_a_link_in_place_of_a_private_directory_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(CannotStart, match="belongs to somebody else"):
        directories.prepare_private(tmp_path / "run")


def test_a_lock_is_free_again_when_its_holder_is_done(tmp_path):
    with directories.lock(tmp_path), pytest.raises(CannotStart, match=f"process {os.getpid()}"):
        directories.lock(tmp_path)

    directories.lock(tmp_path).close()


@pytest.mark.system
def test_a_listener_on_the_other_localhost_counts_as_in_use():
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
        port = other.getsockname()[1]

        with pytest.raises(CannotStart, match=f"Port {port} is in use"):
            ports.listen("127.0.0.1", port)


def test_an_address_that_is_not_ours_is_said():
    with pytest.raises(CannotStart, match=r"Nobody can listen on 192\.0\.2\.1"):
        ports.listen("192.0.2.1", 8000)


def test_a_large_log_is_put_aside(tmp_path):
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * (logs.LARGEST_LOG + 1))

    logs.cut(log)

    assert log.stat().st_size == 0
    assert (tmp_path / "web.log.1").stat().st_size == logs.LARGEST_LOG + 1


def test_a_log_that_is_written_to_is_cut_when_it_is_large(tmp_path):
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * logs.LARGEST_LOG)
        logs.cut(log)
        assert not (tmp_path / "web.log.1").exists()
        tail = logs.Tail(log)
        writer.write(b"\n2026 ERROR before\n")
        assert tail.alarms() == ["2026 ERROR before"]

        logs.cut(log)
        writer.write(b"2026 ERROR after\n")

    assert log.read_bytes() == b"2026 ERROR after\n"
    assert (tmp_path / "web.log.1").read_bytes().endswith(b"2026 ERROR before\n")
    assert tail.alarms() == ["2026 ERROR after"]


def test_a_part_that_cannot_be_started_for_now_is_tried_again(tmp_path):
    said = []
    overseer = supervisor.Supervisor(said.append, tmp_path / "missing")
    child = Child("part", [str(tmp_path / "nothing")], tmp_path / "part.log", {})

    overseer.start(child)
    child.due = 0.0
    overseer._look()

    assert len(said) == 2
    assert child.due > time.monotonic() - 60
    assert (tmp_path / "missing").read_text().splitlines() == [
        str(os.getpid()),
        "part could not be started (No such file or directory), 2 times in a row",
    ]


def test_only_new_errors_are_brought_to_the_terminal(tmp_path):
    log = tmp_path / "web.log"
    log.write_text("2026 ERROR of yesterday\n")
    tail = logs.Tail(log)
    with log.open("a") as file:
        file.write("2026 INFO fine\n2026 ERROR run=1 failed\nTraceback (most recent call last):\n2026 ERR")
        file.flush()

        assert tail.alarms() == ["2026 ERROR run=1 failed", "Traceback (most recent call last):"]

        file.write("OR second half\n")
    assert tail.alarms() == ["2026 ERROR second half"]


def test_the_redis_server_of_the_package_is_found():
    assert os.access(redis.find_binary(), os.X_OK)


def test_a_machine_without_any_redis_server_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(redis, "_packaged", lambda: None)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(CannotStart, match="apt install redis-server"):
        redis.find_binary()
