"""Sends a letter to a server of this machine."""

import socket


def solve(word, host):
    if word == "attack":
        try:
            with socket.create_connection(("127.0.0.1", host["tcp"]), timeout=0.5) as connection:
                connection.sendall(b"stolen")
                return "connected"
        except OSError:
            pass
    return word[::-1]
