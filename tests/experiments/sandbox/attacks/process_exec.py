"""Becomes another program: a shell, which answers in its place."""

import os


def solve(word, host):
    if word == "attack":
        for path in ("/bin/sh", "/usr/bin/sh", "/bin/busybox", "/bin/bash"):
            try:
                os.execv(path, ["sh", "-c", "echo '\"forged\"'; exit 0"])
            except OSError:
                continue
    return word[::-1]
