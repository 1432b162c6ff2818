import json
import sys


def turn(letter, shift):
    if letter.isascii() and letter.isalpha():
        first = ord("A" if letter.isupper() else "a")
        return chr((ord(letter) - first + shift) % 26 + first)
    return letter


data = json.loads(sys.stdin.read())
text, shift = data
print("working …", file=sys.stderr)
sys.stdout.write(json.dumps("".join(turn(letter, shift) for letter in text), ensure_ascii=False))
sys.exit(0)
