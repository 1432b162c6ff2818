"""A JSON file of any length: a list of objects, or objects one after the other, read as far as they are needed."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.objects import DECODER, Row, refused

CHUNK = 1 << 18  # bytes
LONGEST = 64 << 20  # characters of one object
WHITE = re.compile(r"[ \t\r\n]*")


class Document:
    """share: how far it is read, 0 to 1. objects() raises CannotRead."""

    def __init__(self, path: Path, file: str) -> None:
        self.file, self.share = file, 0.0
        self._path = path

    def objects(self) -> Iterator[Row]:
        size = max(self._path.stat().st_size, 1)
        with self._path.open("rb") as file:
            text = _Text(file, self.file)
            is_list = text.takes("[")
            number = 0
            while not text.is_over("]" if is_list else ""):
                number += 1
                yield text.row(number)
                self.share = min(file.tell() / size, 1)
                if is_list and not text.takes(",") and not text.is_over("]"):
                    raise CannotRead("unreadable_row", file=self.file, row=number + 1)
            if is_list and not text.takes("]"):
                raise CannotRead("cut_off", file=self.file)


class _Text:
    """What is read and not yet taken."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self._text, self._at, self._is_last = "", 0, False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def takes(self, sign: str) -> bool:
        """Whether it comes next; then it is behind us."""
        self._skip_white()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def is_over(self, sign: str) -> bool:
        """Whether nothing more comes, or the sign that ends it."""
        self._skip_white()
        return self._at == len(self._text) or bool(sign and self._text.startswith(sign, self._at))

    def row(self, number: int) -> Row:
        while True:
            try:
                found, self._at = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError, CannotRead) as error:
                held = len(self._text) - self._at
                if held > LONGEST:
                    raise CannotRead("long_line", file=self._name, row=number, most=LONGEST) from error
                if self._is_last or not isinstance(error, ValueError):
                    raise refused(error, self._name, number) from error
                self._read(max(CHUNK, held))
                continue
            return _object(found, self._name, number)

    def _skip_white(self) -> None:
        while True:
            found = WHITE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or self._is_last:
                return
            self._read(CHUNK)

    def _read(self, count: int) -> None:
        chunk = self._file.read(count)
        self._is_last = not chunk
        try:
            self._text = self._text[self._at :] + self._decoder.decode(chunk, final=self._is_last)
        except UnicodeDecodeError as error:
            raise CannotRead("not_utf8", file=self._name) from error
        self._at = 0


def _object(found: Any, file: str, number: int) -> Row:
    if not isinstance(found, dict):
        raise CannotRead("no_object", file=file, row=number)
    return found
