"""Text from outside as it may stand in a line of a log, on a terminal or in a file."""

import re

MOST_CHARACTERS = 4000
# Line ends of all kinds, terminal codes, marks that turn the direction of writing, halves of characters.
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escaped(text: str) -> str:
    """One line of text that does to a terminal what it says, and no more."""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}… ({len(text)} characters)"
    return UNSAFE.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    return SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
