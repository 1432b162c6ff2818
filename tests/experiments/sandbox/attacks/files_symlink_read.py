"""Reads the file outside through a symbolic link inside."""

import os


def solve(word, host):
    if word == "attack":
        inside = f"/tmp/{host['marker']}"
        try:
            os.symlink(host["file"], inside)
            with open(inside) as outside:
                return outside.read()
        except OSError:
            pass
    return word[::-1]
