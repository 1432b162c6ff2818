"""A file that is written part by part: each part counted and hashed on its way, so that the manifest can tell."""

import hashlib
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from experiments.runs.zipping import entry

AT_ONCE = 1 << 20
MANIFEST = "manifest.json"


class Part:
    """One table or list of the export, being written. count: its rows; sha256, size: of its bytes so far."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.name, self.count, self.size = name, 0, 0
        self._file, self._hash = file, hashlib.sha256()

    def write(self, data: bytes, rows: int = 0) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)
        self.count += rows

    def told(self) -> dict[str, object]:
        return {"name": self.name, "rows": self.count, "size": self.size, "sha256": self._hash.hexdigest()}


@contextmanager
def parts_in(folder: Path, names: Iterable[str]) -> Iterator[dict[str, Part]]:
    """Parts side by side, each a file of the folder: tables grow together, run after run."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = {name: (folder / name).open("wb") for name in names}
    try:
        yield {name: Part(name, file) for name, file in files.items()}
    finally:
        for file in files.values():
            file.close()


def pack(archive: zipfile.ZipFile, path: Path, name: str) -> dict[str, object]:
    """The file goes into the zip, piece by piece."""
    with path.open("rb") as source, archive.open(entry(name), "w", force_zip64=True) as target:
        part = Part(name, target)
        while chunk := source.read(AT_ONCE):
            part.write(chunk)
    return part.told()


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def forget(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
