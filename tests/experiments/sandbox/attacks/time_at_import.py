"""Never gets to the definition of what is to be called."""

while True:
    pass


def solve(word, host):
    return word[::-1]
