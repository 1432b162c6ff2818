"""Takes 8 GB of memory at once."""


def solve(word, host):
    if word == "attack":
        return len(bytearray(8 << 30))
    return word[::-1]
