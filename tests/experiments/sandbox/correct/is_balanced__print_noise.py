"""Says much, on both channels, at import and in the call; its answer is what it returns."""

import sys

print("loading …")
print("debug", file=sys.stderr)


def is_balanced(text):
    print(f"{text=}")
    stack = []
    for letter in text:
        print(letter, end=" ", flush=True)
        if letter in "([{":
            stack.append(letter)
        elif letter in ")]}":
            if not stack or stack.pop() != "([{"[")]}".index(letter)]:
                print("False")
                return False
    print("answer:", True, '{"value": false}')
    return not stack
