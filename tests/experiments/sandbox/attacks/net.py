"""They speak to others: on this machine, beside it and beyond."""

import socket


def send_to(address):
    with socket.create_connection(address, timeout=0.3) as connection:
        connection.sendall(b"stolen")


def net_tcp(host):
    """Sends a letter to a server of this machine, by all its addresses."""
    addresses = ("127.0.0.1", "::1", "::ffff:127.0.0.1", "localhost", "0.0.0.0", host["address"])
    return any_of(send_to, *((address, host["tcp"]) for address in addresses))


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
    """Speaks to a server by its socket file, as Redis and Docker have one, and by a name that no mount hides."""
    files = (host["socket"], "/var/run/docker.sock", "/run/dbus/system_bus_socket")
    return any_of(connect_to, *files, f"\0{host['abstract']}", "\0/tmp/.X11-unix/X0", "\0/tmp/dbus-session")
