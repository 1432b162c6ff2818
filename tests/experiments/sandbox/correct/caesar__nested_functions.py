def make_caesar(alphabet):
    size = len(alphabet)

    def caesar(text, shift):
        def turn(letter):
            position = alphabet.find(letter.lower())
            if position < 0:
                return letter
            turned = alphabet[(position + shift) % size]
            return turned.upper() if letter.isupper() else turned

        return "".join(map(turn, text))

    return caesar


caesar = make_caesar("abcdefghijklmnopqrstuvwxyz")
