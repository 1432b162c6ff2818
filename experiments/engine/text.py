"""Text that every database can hold."""

from typing import Any


def storable(text: str) -> str:
    """The text with NUL and lone surrogates replaced by U+FFFD: PostgreSQL and UTF-8 can hold neither."""
    if "\x00" not in text and text.isascii():
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def storable_data(value: Any) -> Any:
    """The JSON value with every text in it storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(key)): storable_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_data(item) for item in value]
    return value


def is_storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
