"""Raises with a text of 50 MB, of letters that no encoding knows."""


def solve(word, host):
    if word == "attack":
        raise ValueError("\ud800\0\x1b[2J" * 5_000_000)
    return word[::-1]
