"""Changes the rights of a file outside."""

import os


def solve(word, host):
    if word == "attack":
        for mode in (0o000, 0o777):
            try:
                os.chmod(host["file"], mode)
                return "changed its rights"
            except OSError:
                continue
    return word[::-1]
