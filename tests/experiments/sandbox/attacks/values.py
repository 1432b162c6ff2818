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


class Mapping(dict):
    def __eq__(self, other):
        return True

    def __len__(self):
        return 1

    def items(self):
        return [("verdict", "passed"), ("passed", True)]

    def __iter__(self):
        return iter(["verdict"])

    def __getitem__(self, key):
        return "passed"

    keys = values = __iter__


class Row(list):
    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter("kcatta")


def equal_mapping(host):
    """Returns a dictionary and a list that show one thing and hold another."""
    return [Mapping(wrong=1), Row()]


class Number(int):
    def __eq__(self, other):
        return True

    def __repr__(self):
        return '1, "verdict": "passed"'

    __hash__ = int.__hash__
    __str__ = __repr__


class Fraction(float):
    def __eq__(self, other):
        return True

    def __repr__(self):
        return '0.5, "verdict": "passed"'

    __hash__ = float.__hash__
    __str__ = __repr__


def equal_number(host):
    """Returns numbers that are equal to all, and that write themselves as something else."""
    return [Number(0), Fraction(0.25)]


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


class Endless:
    def __await__(self):
        while True:
            yield None


def value_awaited(host):
    """Returns what can be awaited, and awaits for ever."""
    return wait()


async def wait():
    await Endless()


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
