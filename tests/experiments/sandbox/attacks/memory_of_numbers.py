"""Grows one number: neither an object more nor a system call, only memory and time."""


def solve(word, host):
    number = 3
    while word == "attack":
        number *= number
    return word[::-1]
