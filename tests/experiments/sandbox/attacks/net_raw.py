"""Writes packets of its own make."""

import socket


def solve(word, host):
    if word == "attack":
        for family, kind, protocol in (
            (socket.AF_PACKET, socket.SOCK_RAW, 0x300),
            (socket.AF_INET, socket.SOCK_RAW, 1),
        ):
            try:
                socket.socket(family, kind, protocol).close()
                return "may write packets"
            except OSError:
                continue
    return word[::-1]
