"""Where the files of rows are: below `ARENA_FILES`, which all machines share, or in a bucket (`ARENA_FILES_BUCKET`).

With a bucket, what lies below `ARENA_FILES` are drafts and copies of this machine's own. A file never changes once it
has its name, so that a copy is as good as the file; one that is a day old is taken away when others come.
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages
from django.utils.translation import gettext as _

from accounts.errors import Unavailable

logger = logging.getLogger(__name__)

BUCKET = "bucket"
COPIES_SECONDS = 86_400.0  # that copies are kept for, at least
DRAFT = ".fetched-"


def keep(path: Path) -> None:
    """Call once the file at `path` is whole and on the disk. Afterwards every machine has it. Raises Unavailable."""
    if storage := _bucket():
        with _answering(), path.open("rb") as file:
            storage.save(_name(path), File(file))


def here(path: Path) -> Path:
    """The file, on the disk of this machine. Raises FileNotFoundError and Unavailable."""
    storage = _bucket()
    if storage and not path.is_file():
        with _answering(), storage.open(_name(path), "rb") as file:
            _forget_copies(path.parent)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=DRAFT) as folder:
                draft = Path(folder, "whole")
                with draft.open("wb") as copy:
                    shutil.copyfileobj(file, copy, 1 << 20)
                draft.replace(path)
    return path


def is_kept(path: Path, size: int | None = None) -> bool:
    """Whether there is such a file; size: of so many bytes. Raises Unavailable."""
    storage = _bucket()
    if storage is None:
        return path.is_file() and size in {None, path.stat().st_size}
    with _answering():
        return bool(storage.exists(_name(path))) and size in {None, storage.size(_name(path))}


def forget(path: Path) -> None:
    """Remove the file, if it is there. What a bucket refuses is written to the log, and stays."""
    path.unlink(missing_ok=True)
    if storage := _bucket():
        try:
            with _answering():
                storage.delete(_name(path))
        except Unavailable:
            logger.warning("file=%s stays in the bucket", _name(path))


def below(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Every finished file below a folder, opened; links are not followed. Raises Unavailable."""
    storage = _bucket()
    if storage is None:
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.is_file() and not path.is_symlink() and not hidden:
                try:
                    file = path.open("rb")
                except FileNotFoundError:  # gone meanwhile
                    continue
                with file:
                    yield path, file
        return
    for name in _names(storage, _name(folder)):
        with _answering(), storage.open(name, "rb") as file:
            yield settings.FILES_DIR / name, file


def _names(storage: Any, folder: str) -> Iterator[str]:
    with _answering():
        folders, files = storage.listdir(folder)
    yield from (f"{folder}/{name}" for name in sorted(files) if name)
    for inner in sorted(folders):
        yield from _names(storage, f"{folder}/{inner}")


def _bucket() -> Any:
    """None where files are on a disk that all machines share."""
    return storages[BUCKET] if BUCKET in settings.STORAGES else None


def _name(path: Path) -> str:
    return path.relative_to(settings.FILES_DIR).as_posix()


def _forget_copies(folder: Path) -> None:
    oldest = time.time() - COPIES_SECONDS
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_file() and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


@contextmanager
def _answering() -> Iterator[None]:
    """Raises Unavailable where the bucket does not answer, or refuses."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 — of the extra `bucket`

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        logger.warning("the bucket of files (ARENA_FILES_BUCKET) does not answer, or refuses: %s", type(error).__name__)
        raise Unavailable(_("The storage of files does not answer. Try again in a moment.")) from error
