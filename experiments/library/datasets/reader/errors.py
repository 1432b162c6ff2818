"""Why something is refused: a code and what it is about. The words are chosen by whoever tells a person."""

from typing import Any


class CannotRead(Exception):
    """What was uploaded cannot be taken. facts: file, row and whatever else the sentence names."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
