def caesar(text, shift):
    return bytes((one - 97 + shift) % 26 + 97 if 97 <= one <= 122 else one for one in text.encode())
