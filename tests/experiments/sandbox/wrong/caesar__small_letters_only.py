def caesar(text, shift):
    return "".join(chr((ord(one) - 97 + shift) % 26 + 97) if "a" <= one <= "z" else one for one in text)
