"""The file of a backup: a zip archive whose manifest, its last entry, names the hash of every other one.

It is written beside its place and moved there whole. Nobody but its owner may read it.
"""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from arenasite.backups.errors import BackupRefused

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK = 1 << 20
QUICK = 3  # of zlib's nine levels
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError, RuntimeError)
NOT_WHOLE = "{} is no whole backup: {}. Nothing was changed here. Take another copy of it, or an older backup."


class Writer:
    """entries: of each entry that is whole, {bytes, sha256}."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", allowZip64=True)
        self.entries: dict[str, dict[str, Any]] = {}

    @contextmanager
    def entry(self, name: str, *, is_packed: bool = True) -> Iterator["Hashing"]:
        described = zipfile.ZipInfo(name)
        described.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
        described._compresslevel = QUICK  # type: ignore[attr-defined]  # public from Python 3.13 on
        described.external_attr = 0o600 << 16
        with self._zip.open(described, "w", force_zip64=True) as inner:
            hashing = Hashing(inner)
            yield hashing
        self.entries[name] = hashing.said()

    def finish(self, manifest: Mapping[str, object]) -> str:
        """The digest of the manifest, which holds for everything that it names."""
        whole = {"format": FORMAT, **manifest, "entries": self.entries}
        digest = digest_of(whole)
        text = json.dumps({**whole, "digest": digest}, ensure_ascii=False, indent=1)
        self._zip.writestr(MANIFEST, text, zipfile.ZIP_DEFLATED)
        return digest

    def close(self) -> None:
        self._zip.close()


class Hashing:
    """What is written to it is counted and hashed."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner, self._hash, self._bytes = inner, hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        self._inner.write(data)
        self._hash.update(data)
        self._bytes += len(data)

    def said(self) -> dict[str, object]:
        return {"bytes": self._bytes, "sha256": self._hash.hexdigest()}


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """The file appears when the block has ended well, and not at all otherwise. Raises BackupRefused."""
    draft = path.with_name(f".{path.name}.unfinished")
    try:
        with open(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
            archive = Writer(file)
            try:
                yield archive
            finally:
                archive.close()
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise BackupRefused(
            f"The backup could not be written to {path}: {error.strerror or error}. Nothing of it was kept; make room, "
            "or name another place."
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


class Reader:
    """An archive whose every entry was found to be what the manifest says. Raises BackupRefused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self._zip.read(MANIFEST))
            self._require_format()
            self._require_digest()
            self._require_entries()
        except FileNotFoundError as error:
            raise BackupRefused(f"There is no file {path}.") from error
        except DAMAGED as error:
            raise self._not_whole("it was cut off, altered, or is something else") from error

    def names(self, folder: str) -> list[str]:
        return [name for name in self.manifest["entries"] if name.startswith(folder)]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._zip.open(name) as inner:
            yield inner

    def lines(self, name: str) -> Iterator[list[Any]]:
        with self._zip.open(name) as inner:
            for text in inner:
                yield json.loads(text)

    def close(self) -> None:
        self._zip.close()

    def _require_format(self) -> None:
        if self.manifest.get("format") != FORMAT:
            raise BackupRefused(
                f"{self.path} has the format {self.manifest.get('format')}, and this version reads {FORMAT}: restore "
                "it with the version that made it."
            )

    def _require_digest(self) -> None:
        told = {name: value for name, value in self.manifest.items() if name != "digest"}
        if self.manifest["digest"] != digest_of(told):
            raise self._not_whole("its list of contents was altered")

    def _require_entries(self) -> None:
        expected: dict[str, Any] = self.manifest["entries"]
        if sorted(self._zip.namelist()) != sorted([*expected, MANIFEST]):
            raise self._not_whole("it has other contents than its list says")
        for name, entry in expected.items():
            hashed, size = hashlib.sha256(), 0
            with self._zip.open(name) as inner:
                while chunk := inner.read(CHUNK):
                    hashed.update(chunk)
                    size += len(chunk)
            if (size, hashed.hexdigest()) != (entry["bytes"], entry["sha256"]):
                raise self._not_whole(f"{name} was altered")

    def _not_whole(self, why: str) -> BackupRefused:
        return BackupRefused(NOT_WHOLE.format(self.path, why))


def digest_of(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
