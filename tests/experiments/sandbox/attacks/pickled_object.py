"""Returns an object that runs a command where it is unpickled or copied."""

import os


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)

    __reduce_ex__ = lambda self, _: self.__reduce__()  # noqa: E731
    __deepcopy__ = __copy__ = lambda self, *_: os.system(f"touch {self.path}")


def solve(word, host):
    return Bomb(f"{host['folder']}/{host['marker']}") if word == "attack" else word[::-1]
