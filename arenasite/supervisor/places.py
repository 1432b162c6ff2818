"""What one platform has for itself: its data directory, and the socket at which it is reached."""

import errno
import fcntl
import os
import socket
import stat
from pathlib import Path
from typing import IO

from arenasite.supervisor import CannotStart

CONNECT_SECONDS = 0.5
WAITING = 1024  # visitors that no process has taken yet; the kernel may allow fewer
OTHER_LOCALHOST = {"127.0.0.1": "::1", "0.0.0.0": "::1", "localhost": "::1", "::1": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 — names of addresses, none is listened on here


def prepare(data: Path) -> None:
    """Make the data directory, and those of logs and Redis in it. Raises CannotStart."""
    try:
        for directory in (data, data / "logs", data / "redis"):
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(data, error) from error


def lock(data: Path) -> IO[str]:
    """Hold the directory until the file is closed or this process ends, however it ends. Raises CannotStart."""
    try:
        file = (data / "up.lock").open("a+")
    except OSError as error:
        raise _not_writable(data, error) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise CannotStart(
            f"The platform is running on {data} already (process {holder}). Stop that one first, or start a second one "
            "with --data DIR and --port N."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def prepare_private(directory: Path) -> None:
    """A directory that nobody else can enter: whoever reaches a socket in it can make the workers run anything."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise CannotStart(f"{directory} belongs to somebody else. Remove it, or choose another data directory.")
        directory.chmod(0o700)
    except OSError as error:
        raise _not_writable(directory, error) from error


def _not_writable(directory: Path, error: OSError) -> CannotStart:
    why = error.strerror or error
    choose = "Choose another with --data DIR or ARENA_DATA=DIR."
    return CannotStart(f"The data directory {directory} cannot be written: {why}. {choose}")


def listen(host: str, port: int) -> socket.socket:
    """The web processes take their visitors from it; visitors wait while none of them is there. Port 0 is any free one.
    Raises CannotStart when the address cannot be had, or when visitors would reach another program.
    """
    in_use = f"Port {port} is in use by another program. Stop that one, or choose another port with --port N or PORT=N."
    if port and host in OTHER_LOCALHOST and _is_answered(OTHER_LOCALHOST[host], port):
        raise CannotStart(in_use)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    is_all = host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=WAITING, dualstack_ipv6=is_all)
    except OSError as error:
        reason = error.strerror or error
        why = f"Nobody can listen on {host}, port {port}: {reason}. Choose others with --host and --port."
        if error.errno == errno.EADDRINUSE:
            why = in_use
        elif error.errno in {errno.EACCES, errno.EPERM}:
            why = f"Port {port} may only be used by root. Choose one above 1023 with --port N or PORT=N."
        raise CannotStart(why) from error


def _is_answered(address: str, port: int) -> bool:
    """A listener on ::1 does not keep us from listening on 127.0.0.1, but browsers would ask it first."""
    try:
        with socket.create_connection((address, port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False
