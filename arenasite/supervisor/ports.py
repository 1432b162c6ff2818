"""Whether a TCP port is free, and one that is."""

import errno
import socket

from arenasite.supervisor.errors import CannotStart

CONNECT_SECONDS = 0.5
OTHER_LOCALHOST = {"127.0.0.1": "::1", "0.0.0.0": "::1", "localhost": "::1", "::1": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 — names of addresses, none is listened on here


def require_free(host: str, port: int) -> None:
    """Raises CannotStart when nobody could listen there, or when visitors would reach somebody else."""
    try:
        _listen(host, port).close()
    except OSError as error:
        raise CannotStart(_sentence(host, port, error)) from error
    if host in OTHER_LOCALHOST and _is_answered(OTHER_LOCALHOST[host], port):
        raise CannotStart(_in_use(port))


def any_free(host: str) -> int:
    try:
        with _listen(host, 0) as listener:
            return int(listener.getsockname()[1])
    except OSError as error:
        raise CannotStart(_sentence(host, 0, error)) from error


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _is_answered(address: str, port: int) -> bool:
    """A listener on ::1 does not keep us from listening on 127.0.0.1, but browsers would ask it first."""
    try:
        with socket.create_connection((address, port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return _in_use(port)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return f"Port {port} may only be used by root. Choose one above 1023 with --port N or PORT=N."
    return f"Nobody can listen on {host}, port {port}: {error.strerror or error}. Choose others with --host and --port."


def _in_use(port: int) -> str:
    return f"Port {port} is in use by another program. Stop that one, or choose another port with --port N or PORT=N."
