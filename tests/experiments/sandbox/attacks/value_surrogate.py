"""Returns half a letter, in a text and as a key, which no encoding can write."""


def solve(word, host):
    return {"\ud800": "\udfff", "kcatta\ud83d": "\0"} if word == "attack" else word[::-1]
