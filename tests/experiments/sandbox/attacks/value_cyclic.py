"""Returns a list that holds itself."""


def solve(word, host):
    endless = []
    endless.append(endless)
    return endless if word == "attack" else word[::-1]
