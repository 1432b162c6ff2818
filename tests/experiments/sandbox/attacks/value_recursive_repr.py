"""Returns an object that cannot be shown: its text asks for its text."""


class Endless:
    def __repr__(self):
        return f"<{self!r}>"

    __str__ = __repr__

    def __iter__(self):
        return iter([self])


def solve(word, host):
    return Endless() if word == "attack" else word[::-1]
