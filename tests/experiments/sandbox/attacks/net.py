"""They speak to others: on this machine, beside it and beyond."""

import fcntl
import os
import socket

TYPE_A_LETTER = 0x5412


def net_listen(host):
    """Opens a door for others: a server on every address of the machine."""
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        server.settimeout(0.1)
        server.accept()
        return "was visited"


def net_netlink(host):
    """Asks the kernel for its network, and could change it."""
    families = (socket.NETLINK_ROUTE, 9, 15, 16)  # routes, audit, kobject events, generic
    return any_of(lambda family: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family).bind((0, 0)), *families)


def net_raw(host):
    """Writes packets of its own make."""
    kinds = ((socket.AF_PACKET, socket.SOCK_RAW, 0x300), (socket.AF_INET, socket.SOCK_RAW, 1))
    return any_of(lambda kind: socket.socket(*kind).close(), *kinds)


def send_to(address):
    with socket.create_connection(address, timeout=0.3) as connection:
        connection.sendall(b"stolen")


def net_tcp(host):
    """Sends a letter to a server of this machine."""
    return any_of(send_to, ("127.0.0.1", host["tcp"]))


def net_tcp_ipv6(host):
    """Reaches the server of this machine by its other addresses."""
    addresses = ("::1", "::ffff:127.0.0.1", "localhost", "0.0.0.0", host["address"])
    return any_of(send_to, *((address, host["tcp"]) for address in addresses))


def net_terminal(host):
    """Types into the terminal of whoever started it."""
    return any_of(type_into, "/dev/tty", "/dev/console", "/dev/pts/0", "/dev/tty0", 0, 1, 2)


def type_into(terminal):
    number = os.open(terminal, os.O_RDWR) if isinstance(terminal, str) else terminal
    fcntl.ioctl(number, TYPE_A_LETTER, b"\n")


def net_udp(host):
    """Sends a letter that needs no answer; the listener tells whether it came."""
    for address in ("127.0.0.1", "255.255.255.255", host["address"]):
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                sender.sendto(b"stolen", (address, host["udp"]))
        except OSError:
            continue


def connect_to(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)


def net_unix(host):
    """Speaks to a server by its socket file, as Redis and Docker have one."""
    return any_of(connect_to, host["socket"], "/var/run/docker.sock", "/run/dbus/system_bus_socket")


def net_unix_abstract(host):
    """Speaks to a server by a name that is no file: no mount hides those."""
    return any_of(connect_to, f"\0{host['abstract']}", "\0/tmp/.X11-unix/X0", "\0/tmp/dbus-session")


def net_vsock(host):
    """Speaks to the machine that this virtual machine runs on: a network namespace does not cover it."""
    for machine in (2, 1, 0):
        try:
            with socket.socket(40, socket.SOCK_STREAM) as connection:
                connection.settimeout(0.3)
                connection.connect((machine, 1024))
        except PermissionError:
            continue
        except OSError as refusal:
            if refusal.errno not in (1, 13, 22, 38, 93, 94, 97):
                return f"could ask machine {machine}: {refusal}"
            continue
        return f"connected to machine {machine}"
