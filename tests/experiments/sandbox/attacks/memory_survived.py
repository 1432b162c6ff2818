"""Takes more than there is, gets over it and answers."""


def solve(word, host):
    held = []
    try:
        while word == "attack":
            held.append(bytearray(1 << 22))
    except MemoryError:
        held.clear()
    return word[::-1]
