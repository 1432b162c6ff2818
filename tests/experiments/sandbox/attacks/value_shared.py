"""Returns a small object that is large when written: lists that hold the same list ten times, and so on."""


def solve(word, host):
    shared = ["x" * 1000]
    for _ in range(8):
        shared = [shared] * 10
    return shared if word == "attack" else word[::-1]
