def caesar(text, shift):
    """Shifts letters.

    ```python
    >>> caesar("abc", 1)
    'bcd'
    ```
    """
    return "".join(shifted(letter, shift) for letter in text)


def shifted(letter, shift):
    r'''Leaves "others" alone: \d, ''' + """ and ``` too"""
    for first in "aA":
        if "a" <= letter.lower() <= "z" and letter.isascii() and letter.isupper() == first.isupper():
            return chr((ord(letter) - ord(first) + shift) % 26 + ord(first))
    return letter
