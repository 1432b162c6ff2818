"""Returns what can be awaited, and awaits for ever."""


class Endless:
    def __await__(self):
        while True:
            yield None


async def wait():
    await Endless()


def solve(word, host):
    return wait() if word == "attack" else word[::-1]
