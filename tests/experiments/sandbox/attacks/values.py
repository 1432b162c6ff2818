"""They return what is no plain value, or what claims to equal every other."""

import os


class Equal:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None


def equal_always(host):
    """Returns an object that equals everything."""
    return Equal()


class AgreeableText(str):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    def __str__(self):
        return "kcatta"

    def strip(self, *_):
        return self

    encode = format = lower = __repr__ = __str__


def equal_text(host):
    """Returns a text that says it is equal to every other, and of every other's length."""
    return AgreeableText("wrong")


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)

    __reduce_ex__ = lambda self, _: self.__reduce__()  # noqa: E731
    __deepcopy__ = __copy__ = lambda self, *_: os.system(f"touch {self.path}")


def pickled_object(host):
    """Returns an object that runs a command where it is unpickled or copied."""
    return Bomb(f"{host['folder']}/{host['marker']}")


def value_arguments_changed(host):
    """Changes its arguments; the next test gets its own."""
    host.clear()


class Growing(list):
    def __iter__(self):
        while True:
            self.append("x" * 1000)
            yield self[-1]

    def __len__(self):
        self.append(0)
        return super().__len__()


def value_growing(host):
    """Returns a list that grows while it is read."""
    return Growing([1])


def value_many_numbers(host):
    """Returns a list of a hundred million numbers."""
    return list(range(10**8))
