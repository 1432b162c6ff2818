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

FORMAT = 1
MANIFEST = "manifest.json"
QUICK = 3  # of zlib's nine levels
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError, RuntimeError)


class BackupRefused(Exception):
    """A backup cannot be taken, is not whole, or cannot be restored here. The message says what to do."""


class Hashing:
    """What is written to it is hashed."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner, self.hash = inner, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return self._inner.write(data)


class Writer:
    """entries: of each entry that is whole, {sha256}."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=QUICK)
        self.entries: dict[str, dict[str, str]] = {}

    @contextmanager
    def entry(self, name: str) -> Iterator[Hashing]:
        with self._zip.open(name, "w", force_zip64=True) as inner:
            hashing = Hashing(inner)
            yield hashing
        self.entries[name] = {"sha256": hashing.hash.hexdigest()}

    def finish(self, manifest: Mapping[str, object]) -> str:
        """The digest of the manifest, which holds for everything that it names."""
        whole = {"format": FORMAT, **manifest, "entries": self.entries}
        digest = digest_of(whole)
        self._zip.writestr(MANIFEST, json.dumps({**whole, "digest": digest}, ensure_ascii=False, indent=1))
        return digest

    def close(self) -> None:
        self._zip.close()


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """The file appears when the block has ended well, and not at all otherwise. Raises OSError."""
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
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


class Reader:
    """An archive whose every entry was found to be what the manifest says. Raises BackupRefused."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self._zip.read(MANIFEST))
            made_by = self.manifest.get("format")
            reason = self._damage() if made_by == FORMAT else ""
        except FileNotFoundError as error:
            raise BackupRefused(f"There is no file {path}.") from error
        except (*DAMAGED, AttributeError):
            reason = "it was cut off, altered, or is something else"
        else:
            if made_by != FORMAT:
                raise BackupRefused(
                    f"{path} has the format {made_by}, and this version reads {FORMAT}: restore it with the version "
                    "that made it."
                )
        if reason:
            raise BackupRefused(
                f"{path} is no whole backup: {reason}. Nothing was changed here. Take another copy of it, or an older "
                "backup."
            )

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

    def _damage(self) -> str:
        """What is wrong with it; "" for nothing."""
        expected: dict[str, Any] = self.manifest["entries"]
        if self.manifest["digest"] != digest_of({n: v for n, v in self.manifest.items() if n != "digest"}):
            return "its list of contents was altered"
        if sorted(self._zip.namelist()) != sorted([*expected, MANIFEST]):
            return "it has other contents than its list says"
        for name, entry in expected.items():
            with self._zip.open(name) as inner:
                if hashlib.file_digest(inner, "sha256").hexdigest() != entry["sha256"]:  # type: ignore[arg-type]  # an entry of a zip can be read, and is no file
                    return f"{name} was altered"
        return ""


def digest_of(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
