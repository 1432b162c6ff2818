import string

LETTERS = string.ascii_lowercase


def caesar(text, shift):
    turned = LETTERS[shift % 26 :] + LETTERS[: shift % 26]
    return text.translate(str.maketrans(LETTERS + LETTERS.upper(), turned + turned.upper()))
