"""Sends a letter that needs no answer; the listener tells whether it came."""

import socket


def solve(word, host):
    if word == "attack":
        for address in ("127.0.0.1", "255.255.255.255", host["address"]):
            try:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                    sender.sendto(b"stolen", (address, host["udp"]))
            except OSError:
                continue
    return word[::-1]
