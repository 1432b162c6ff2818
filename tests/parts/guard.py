"""Tests that are not marked `system` start no process, open no port and wait for nothing."""

import os
import signal
import socket
import subprocess
from typing import Any

import pytest

from experiments.engine import wakeups

MOST_SECONDS = 60  # of processor time: a test that needs more has begun to spin


class NotForThisTier(BaseException):
    """A test without the mark `system` reached for a process or a socket."""


def _forbid(what: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotForThisTier(f"{what}: mark the test `system`, or use what the process has")

    return refuse


def _connect(self: socket.socket, address: Any) -> Any:
    if self.family == socket.AF_UNIX:
        raise ConnectionRefusedError("Redis is away for tests that are not marked `system`")
    _forbid("a connection is made")()


def _spins(*_: Any) -> None:
    raise AssertionError(f"the test has used {MOST_SECONDS} seconds of processor time")


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one test."""
    signal.signal(signal.SIGPROF, _spins)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    monkeypatch.setattr(subprocess.Popen, "__init__", _forbid("a process is started"))
    monkeypatch.setattr(os, "fork", _forbid("a process is started"))
    monkeypatch.setattr(wakeups.Listener, "start", lambda _listener: None)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)  # it waits for the disk, as long as others write
    monkeypatch.setattr(socket.socket, "bind", _forbid("a port is opened"))
    monkeypatch.setattr(socket.socket, "connect", _connect)


def remove() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
