"""What strangers send, as JSON values: a file of JSON or of its lines, or a zip of such files. Nobody's word on sizes
is trusted, and nothing is unpacked that grows without end.
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
from experiments.library.imports import lines
from experiments.library.imports.values import Unreadable
from experiments.runs.reports import json_values
from experiments.runs.reports.json_values import InvalidDocument

MOST_ENTRIES = 20_000
LONGEST = json_values.MOST_BYTES  # of a JSON document, and of one line
TIMES = 100  # so many times as much may be in a zip as was sent, once it is BULK
BULK = 64 << 20
UNPACKED = 8  # times the largest upload may be in any
DIRECTORY_BYTES = 32 << 20
END_OF_ZIP = b"PK\x05\x06"
DAMAGED = (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError, OSError, RuntimeError)


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
        raise Unreadable(_("There are too many files in the zip: send them in parts."))


def allowance(size: int) -> lines.Allowance:
    """How much may be read out of an upload of so many bytes."""
    return lines.Allowance(min(UNPACKED * settings.UPLOAD_BYTES, max(BULK, TIMES * size)))


def values(entry: Entry, allowed: lines.Allowance) -> Iterator[Value]:
    """What the file says, value by value. Raises Unreadable."""
    try:
        with entry.opened() as file:
            yield from _values(entry.name, file, allowed)
    except TooLarge as error:
        raise Unreadable(str(error), entry.name) from error


def whole(entry: Entry, allowed: lines.Allowance) -> Any:
    """The file as one value. Raises Unreadable."""
    found = list(values(entry, allowed))
    if len(found) != 1 or found[0].refused:
        said = found[0].refused if found else _("The file is empty.")
        raise Unreadable(said, entry.name)
    return found[0].content


def _values(name: str, file: IO[bytes], allowed: lines.Allowance) -> Iterator[Value]:
    first = _line(file, allowed)
    while first is not None and not first.strip(b" \t\r\n\xef\xbb\xbf"):
        first = _line(file, allowed)
    if first is None:
        raise Unreadable(_("The file is empty."), name)
    if not _is_whole(first):
        rest = file.read(LONGEST + 1 - len(first))
        allowed.spend(len(rest))
        yield _parsed(name, 0, first + rest)
        return
    second = _next(file, allowed)
    if second is None:
        yield _parsed(name, 0, first)
        return
    yield _parsed(name, 1, first)
    number = 2
    while second is not None:
        if second.strip():
            yield _parsed(name, number, second)
        second, number = _line(file, allowed), number + 1


def _next(file: IO[bytes], allowed: lines.Allowance) -> bytes | None:
    """The next line; None where nothing but blank ones follow soon."""
    for _number in range(3):
        found = _line(file, allowed)
        if found is None or found.strip():
            return found
    return b""


def _line(file: IO[bytes], allowed: lines.Allowance) -> bytes | None:
    """Raises TooLarge. A line that is too long comes as far as it may, and is refused when it is parsed."""
    found = file.readline(LONGEST + 1)
    allowed.spend(len(found))
    return found or None


def _is_whole(line: bytes) -> bool:
    """Whether the line is JSON by itself: then the file is one of lines, or has but this one."""
    bare = line.removeprefix(b"\xef\xbb\xbf").strip()
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
    found = [one for one in archive.infolist() if not one.is_dir() and not _is_hidden(one.filename)]
    if len(found) > MOST_ENTRIES:
        raise Unreadable(_("There are more than %(most)s files in it: send them in parts.") % {"most": MOST_ENTRIES})
    for one in found:
        if one.flag_bits & 1:
            raise Unreadable(_("%(name)s is encrypted: send it without a password.") % {"name": one.filename})
    return [Entry(name, archive, path) for name in sorted({one.filename for one in found})]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)
