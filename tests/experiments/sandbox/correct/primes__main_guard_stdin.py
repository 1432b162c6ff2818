"""A program: its arguments come as JSON, and its answer is what it prints."""

import json
import sys


def sieve(limit):
    found = []
    for number in range(2, limit):
        if all(number % prime for prime in found):
            found.append(number)
    return found


def main():
    (limit,) = json.load(sys.stdin)
    print(json.dumps(sieve(limit)))


if __name__ == "__main__":
    main()
