"""Lines of a file that a stranger made: none longer than we allow, and not more of them in all."""

from collections.abc import Iterator
from typing import IO, NamedTuple

from django.utils.translation import gettext as _

from accounts.errors import TooLarge

LINE_BYTES = 4 << 20
SKIPPED_AT_ONCE = 1 << 20


class Allowance:
    """How many bytes may still be read, over all files of an import. Nobody's word on sizes is trusted."""

    def __init__(self, most: int) -> None:
        self.most, self.read = most, 0

    def spend(self, count: int) -> None:
        """Raises TooLarge."""
        self.read += count
        if self.read > self.most:
            raise TooLarge(
                _("More than %(most)s MiB was sent, unpacked: send it in parts.") % {"most": self.most >> 20}
            )


class Line(NamedTuple):
    """number counts from 1. text: without its end; None when the line was too long. is_whole: a line end follows."""

    number: int
    text: bytes | None
    is_whole: bool


def lines(file: IO[bytes], allowance: Allowance) -> Iterator[Line]:
    """The lines that are not blank. Raises TooLarge."""
    number = 0
    while chunk := file.readline(LINE_BYTES + 1):
        number += 1
        allowance.spend(len(chunk))
        is_too_long = len(chunk) > LINE_BYTES and not chunk.endswith(b"\n")
        if is_too_long:
            _skip_rest(file, allowance)
            yield Line(number, None, True)
        elif text := chunk.strip():
            yield Line(number, text.removeprefix(b"\xef\xbb\xbf"), chunk.endswith(b"\n"))


def _skip_rest(file: IO[bytes], allowance: Allowance) -> None:
    while chunk := file.readline(SKIPPED_AT_ONCE):
        allowance.spend(len(chunk))
        if chunk.endswith(b"\n"):
            return
