"""What strangers send, as JSON values or lines: a file of JSON or of its lines, or a zip of such files. What it says of
its size is not trusted, and nothing is unpacked that grows without end.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple
from zlib import error as ZlibError  # noqa: N812 — an exception, called like one

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.errors import TooLarge
from experiments.library.imports.values import Unreadable
from experiments.runs.reports import json_values
from experiments.runs.reports.json_values import InvalidDocument

MOST_ENTRIES = 20_000
LONGEST = json_values.MOST_BYTES  # of a JSON document, and of one line of it
LINE_BYTES = 4 << 20  # of a line of a log
SKIPPED_AT_ONCE = 1 << 20
TIMES = 100  # so many times as much may be in a zip as was sent, once it is BULK
BULK = 64 << 20
UNPACKED = 8  # times the largest upload may be in any
DIRECTORY_BYTES = 32 << 20
END_OF_ZIP = b"PK\x05\x06"
BOM = b"\xef\xbb\xbf"
DAMAGED = (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError, OSError, RuntimeError)


class Allowance:
    """How many bytes may still be read, over all files of an import."""

    def __init__(self, most: int) -> None:
        self.most, self.read = most, 0

    def spend(self, count: int) -> None:
        """Raises TooLarge."""
        self.read += count
        if self.read > self.most:
            raise TooLarge(
                _("The unpacked data is larger than %(most)s MiB. Send it in parts.") % {"most": self.most >> 20}
            )


class Entry(NamedTuple):
    """A file, or one of a zip."""

    name: str
    archive: zipfile.ZipFile | None
    path: Path

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Raises Unreadable, also while it is read."""
        try:
            with self.path.open("rb") if self.archive is None else self.archive.open(self.name) as file:
                yield file
        except DAMAGED as error:
            raise Unreadable(
                _("The zip is damaged here: %(error)s.") % {"error": str(error)[:200]}, self.name
            ) from error


class Value(NamedTuple):
    """place: of the value, for people. line: from 1; 0 where the file is one value. refused: why there is no value."""

    place: str
    line: int
    content: Any
    refused: str = ""


@contextmanager
def entries(path: Path, name: str) -> Iterator[list[Entry]]:
    """The files in it, by name. Raises Unreadable."""
    if not zipfile.is_zipfile(path):
        yield [Entry(name, None, path)]
        return
    try:
        refuse_endless_directory(path)
        with zipfile.ZipFile(path) as archive:
            yield _members(archive, path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise Unreadable(_("The zip cannot be read: %(error)s.") % {"error": str(error)[:200]}) from error


def refuse_endless_directory(path: Path) -> None:
    """A zip's list of files is read as a whole, so it must not be endless. Raises Unreadable."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
    at = tail.rfind(END_OF_ZIP)
    listed = int.from_bytes(tail[at + 12 : at + 16], "little")
    if at < 0 or listed > DIRECTORY_BYTES:
        raise Unreadable(_("There are too many files in the zip. Send them in parts."))


def allowance(size: int) -> Allowance:
    """How much may be read out of an upload of so many bytes."""
    return Allowance(min(UNPACKED * settings.UPLOAD_BYTES, max(BULK, TIMES * size)))


def values(entry: Entry, allowed: Allowance) -> Iterator[Value]:
    """What the file says, value by value. Raises Unreadable."""
    try:
        with entry.opened() as file:
            yield from _values(entry.name, file, allowed)
    except TooLarge as error:
        raise Unreadable(str(error), entry.name) from error


def whole(entry: Entry, allowed: Allowance) -> Any:
    """The file as one value. Raises Unreadable."""
    found = list(values(entry, allowed))
    if len(found) != 1 or found[0].refused:
        said = found[0].refused if found else _("The file is empty.")
        raise Unreadable(said, entry.name)
    return found[0].content


def _values(name: str, file: IO[bytes], allowed: Allowance) -> Iterator[Value]:
    def next_line() -> bytes:  # one that is too long comes as far as it may, and is refused when it is parsed
        found = file.readline(LONGEST + 1)
        allowed.spend(len(found))
        return found

    first = next_line()
    while first and not first.strip(b" \t\r\n" + BOM):
        first = next_line()
    if not first:
        raise Unreadable(_("The file is empty."), name)
    if not _is_whole(first):
        rest = file.read(LONGEST + 1 - len(first))
        allowed.spend(len(rest))
        yield _parsed(name, 0, first + rest)
        return
    line, blank = next_line(), 0
    while line and not line.strip() and blank < 2:
        line, blank = next_line(), blank + 1
    yield _parsed(name, 1 if line else 0, first)
    number = 2
    while line:
        if line.strip():
            yield _parsed(name, number, line)
        line, number = next_line(), number + 1


def _is_whole(line: bytes) -> bool:
    """Whether the line is JSON by itself: then the file is one of lines, or has but this one."""
    bare = line.removeprefix(BOM).strip()
    if bare[:1] not in b"{[" or bare[-1:] not in b"}]" or len(bare) < 2:
        return False
    try:
        json_values.parse(line)
    except InvalidDocument:
        return bare[:1] == b"{" and bare[-1:] == b"}"
    return True


def _parsed(name: str, number: int, data: bytes) -> Value:
    place = _("%(file)s, line %(line)s") % {"file": name, "line": number} if number else name
    try:
        content = json_values.parse(data)
        json_values.check(content)
    except InvalidDocument as error:
        return Value(place, number, None, " ".join(said for all_ in error.errors.values() for said in all_))
    return Value(place, number, content)


def _members(archive: zipfile.ZipFile, path: Path) -> list[Entry]:
    parts = {one: PurePosixPath(one.filename).parts for one in archive.infolist() if not one.is_dir()}
    found = [one for one in parts if not any(part.startswith(".") or part == "__MACOSX" for part in parts[one])]
    if len(found) > MOST_ENTRIES:
        raise Unreadable(_("There are more than %(most)s files in it. Send them in parts.") % {"most": MOST_ENTRIES})
    for one in found:
        if one.flag_bits & 1:
            raise Unreadable(_("%(name)s is encrypted. Send it without a password.") % {"name": one.filename})
    return [Entry(name, archive, path) for name in sorted({one.filename for one in found})]


class Line(NamedTuple):
    """number counts from 1. text: without its end; None when the line was too long. is_whole: a line end follows."""

    number: int
    text: bytes | None
    is_whole: bool


def lines(file: IO[bytes], allowance: Allowance) -> Iterator[Line]:
    """The lines of a log that are not blank. Raises TooLarge."""
    number = 0
    while chunk := file.readline(LINE_BYTES + 1):
        number += 1
        allowance.spend(len(chunk))
        if len(chunk) > LINE_BYTES and not chunk.endswith(b"\n"):
            while (rest := file.readline(SKIPPED_AT_ONCE)) and not rest.endswith(b"\n"):
                allowance.spend(len(rest))
            allowance.spend(len(rest))
            yield Line(number, None, True)
        elif text := chunk.strip():
            yield Line(number, text.removeprefix(BOM), chunk.endswith(b"\n"))
