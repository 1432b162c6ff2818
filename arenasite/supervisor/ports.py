"""The socket at which the platform is reached, or why nobody can listen there."""

import errno
import socket

from arenasite.supervisor.errors import CannotStart

CONNECT_SECONDS = 0.5
WAITING = 1024  # visitors that nobody has taken yet; the kernel may allow fewer
OTHER_LOCALHOST = {"127.0.0.1": "::1", "0.0.0.0": "::1", "localhost": "::1", "::1": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 — names of addresses, none is listened on here


def listen(host: str, port: int) -> socket.socket:
    """The web processes take their visitors from it; who comes while none of them is there waits. Port 0 is any free
    one. Raises CannotStart when nobody could listen there, or when visitors would reach somebody else.
    """
    if port and host in OTHER_LOCALHOST and _is_answered(OTHER_LOCALHOST[host], port):
        raise CannotStart(_in_use(port))
    try:
        return _listen(host, port)
    except OSError as error:
        raise CannotStart(_sentence(host, port, error)) from error


def any_free(host: str) -> int:
    with listen(host, 0) as listener:
        return int(listener.getsockname()[1])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    is_all = host == "::" and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, backlog=WAITING, dualstack_ipv6=is_all)


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
