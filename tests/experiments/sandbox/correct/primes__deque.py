from collections import deque


def primes(limit):
    found = deque()
    for number in reversed(range(2, limit)):
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            found.appendleft(number)
    return found
