"""What deleted datasets and dead processes leave behind on the disk, taken away by the background worker."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from django.conf import settings

from experiments.library.datasets import images
from experiments.models import Image, LogImport, Upload

EVERY_SECONDS = 600
MOST_PICTURES = 2_000  # of those that nobody needs, taken away at a time
DAY = 86_400  # seconds: what is younger may still be written
FOLDERS = 256  # of pictures, by the first two letters of their hashes
LOGS = "logs"


class Tidier:
    """Tidies up when it is due, and not with every sweep: it looks at whole folders and tables."""

    def __init__(self) -> None:
        self._due = 0.0

    def look(self) -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY_SECONDS
            tidy()


def tidy() -> None:
    images.forget_unused(MOST_PICTURES)
    forget_uploads()
    forget_pictures(Path(settings.IMAGES_DIR) / f"{int(time.time() // EVERY_SECONDS) % FOLDERS:02x}")


def forget_uploads() -> None:
    """Folders of uploads that are over or have no row, and spools of commands that were killed."""
    root = Path(settings.UPLOADS_DIR)
    waiting = Upload.objects.exclude(state__in=[Upload.State.DONE, Upload.State.REFUSED])
    unread = LogImport.objects.exclude(state__in=[LogImport.State.DONE, LogImport.State.REFUSED])
    _forget(root, {str(pk) for pk in waiting.values_list("pk", flat=True)})
    _forget(root / LOGS, {str(pk) for pk in unread.values_list("pk", flat=True)})


def forget_pictures(folder: Path) -> None:
    """Files without a row, and those that were never written to their end."""
    names = [path.name for path in _old(folder)]
    known = set(Image.objects.filter(pk__startswith=folder.name).values_list("pk", flat=True)) if names else set()
    for name in names:
        if name not in known:
            (folder / name).unlink(missing_ok=True)


def _forget(folder: Path, needed: set[str]) -> None:
    for path in _old(folder):
        if path.name not in needed and (path.name.startswith("spool-") or _is_key(path.name)):
            shutil.rmtree(path, ignore_errors=True)


def _old(folder: Path) -> Iterator[Path]:
    """What lies in the folder, and was last changed long ago."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if time.time() - path.lstat().st_mtime > max(DAY, settings.UPLOAD_DAYS * DAY):
            yield path


def _is_key(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
