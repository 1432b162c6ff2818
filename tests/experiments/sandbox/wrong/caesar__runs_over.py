def caesar(text, shift):
    return "".join(chr(ord(letter) + shift) for letter in text)
