"""Crashes, so that the system writes all its memory to a file where the parent stands."""

import os
import resource


def solve(word, host):
    if word == "attack":
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):
            pass
        os.abort()
    return word[::-1]
