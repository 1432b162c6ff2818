alphabet = None
calls = 0


def prepare():
    global alphabet
    alphabet = [chr(number) for number in range(ord("a"), ord("z") + 1)]


def turn(letter, shift):
    global calls
    calls += 1
    if letter.lower() not in alphabet:
        return letter
    turned = alphabet[(alphabet.index(letter.lower()) + shift) % 26]
    return turned.upper() if letter.isupper() else turned


def caesar(text, shift):
    assert calls == 0, "each test begins anew"
    return "".join(turn(letter, shift) for letter in text)


prepare()
