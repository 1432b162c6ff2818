"""Files that somebody sends: streamed to disk, and kept until it is said how they are to be read. What deleted datasets
and dead processes leave behind on the disk is taken away by the background worker.
"""

import errno
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Sum
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.library.datasets import images, process
from experiments.library.datasets.process import Refused
from experiments.library.datasets.reasons import sentence
from experiments.models import Dataset, Image, LogImport, Upload, shared_files
from experiments.tasks import durable

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_NAME = 120
UNREAD = 4  # files of the longest kind that one person may have waiting
PREVIEW_SECONDS = 60
ROOM_FOR_FORM = 1 << 20  # bytes of a request beside its file
EVERY_SECONDS = 600
MOST_PICTURES = 2_000  # of those that nobody needs, taken away at a time
DAY = 86_400  # seconds: what is younger may still be written
FOLDERS = 256  # of pictures, by the first two letters of their hashes
LOGS = "logs"
KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def too_long() -> str:
    most = filesizeformat(settings.UPLOAD_BYTES)
    return _("The file is larger than %(most)s. Load it on the server with manage.py load_dataset.") % {"most": most}


def is_too_long(length: object) -> bool:
    """Whether a request of this Content-Length is refused before anything of it is read."""
    text = str(length or "")
    return text.isdigit() and int(text) > settings.UPLOAD_BYTES + ROOM_FOR_FORM


def keep(file: "UploadedFile[Any] | None", *, owner: "User", kind: str, dataset: Dataset | None = None) -> Upload:
    """Copy it to its place. Raises Invalid for what is too long, empty or missing, and where there is no room
    for it.
    """
    if file is None or not file.name:
        raise Invalid(file=_("Choose a file."))
    if not file.size:
        raise Invalid(file=_("The file is empty."))
    if file.size > settings.UPLOAD_BYTES:
        raise Invalid(file=too_long())
    # Whoever sends and never says how it is to be read must not fill the disk.
    over = [Upload.State.DONE, Upload.State.REFUSED]
    held = Upload.objects.filter(owner=owner).exclude(state__in=over).aggregate(held=Sum("size"))["held"] or 0
    if held + file.size > UNREAD * settings.UPLOAD_BYTES:
        raise Invalid(file=_("Your other files are not read yet. Wait for them, or map their columns."))
    upload = Upload(owner=owner, kind=kind, dataset=dataset, name=_safe_name(file.name), size=file.size)
    with all_or_nothing(upload):
        upload.folder.mkdir(mode=0o700, parents=True)
        with upload.path.open("wb") as kept:
            for chunk in file.chunks(1 << 20):
                kept.write(chunk)
        durable.settle(upload.path)
        shared_files.keep(upload.path)
        upload.save()
    return upload


def preview(upload: Upload) -> dict[str, Any]:
    """Its first rows, and how they would be read: see the reader's preview. Read once, and kept with the upload. Raises
    Refused, and forgets the file.
    """
    if upload.state == Upload.State.REFUSED:
        raise Refused("upload_gone")
    if upload.found:
        return dict(upload.found)
    try:
        with process.spool_in(upload.folder) as spool:
            seconds: Any = {"within": PREVIEW_SECONDS, "limits": {"seconds": PREVIEW_SECONDS}}
            upload.found = process.read(shared_files.here(upload.path), spool, what="preview", **seconds).said
    except Refused as refused:
        upload.state, upload.refused_reason = Upload.State.REFUSED, str(refused)
        upload.save(update_fields=["state", "refused_reason"])
        upload.forget_file()
        raise
    upload.save(update_fields=["found"])
    return dict(upload.found)


def forget_old() -> None:
    """Files that nobody has said how to read, and rows of those long read."""
    oldest = timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    for upload in Upload.objects.filter(state=Upload.State.KEPT, created__lt=oldest)[:100]:
        upload.forget_file()
        upload.delete()


@contextmanager
def all_or_nothing(kept: Upload | LogImport) -> Iterator[None]:
    """While a file is kept. Raises Invalid where the disk is full."""
    try:
        yield
    except BaseException as error:
        kept.forget_file()
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise Invalid(file=sentence("disk_full", {})) from error
        raise


def _safe_name(name: str) -> str:
    """The file's own name, without anything that a file system or a reader could stumble over."""
    plain = re.sub(r"[\x00-\x1f\x7f/\\]", "_", PurePath(name).name).lstrip(".") or "upload"
    suffix = PurePath(plain).suffix[:12]
    return f"{plain[: LONGEST_NAME - len(suffix)]}{suffix}" if len(plain) > LONGEST_NAME else plain


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
        if path.name not in needed and (path.name.startswith("spool-") or KEY.fullmatch(path.name)):
            shutil.rmtree(path, ignore_errors=True)


def _old(folder: Path) -> Iterator[Path]:
    """What lies in the folder, and was last changed long ago."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if time.time() - path.lstat().st_mtime > max(DAY, settings.UPLOAD_DAYS * DAY):
            yield path
