"""Goes as deep as there are steps, within what the interpreter allows by itself."""

KNOWN = {0: 1, 1: 1}


def stairs(steps):
    if steps not in KNOWN:
        KNOWN[steps] = stairs(steps - 1) + KNOWN[steps - 2]
    return KNOWN[steps]
