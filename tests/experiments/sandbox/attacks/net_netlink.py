"""Asks the kernel for its network, and could change it."""

import socket


def solve(word, host):
    if word == "attack":
        for family in (socket.NETLINK_ROUTE, 9, 15, 16):  # routes, audit, kobject events, generic
            try:
                with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as kernel:
                    kernel.bind((0, 0))
                    return f"speaks to the kernel by {family}"
            except OSError:
                continue
    return word[::-1]
