"""Files that somebody sends: streamed to disk, and kept until it is said how they are to be read."""

import re
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.casting import InvalidExperiment
from experiments.datasets import process
from experiments.models import Dataset, Upload

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_NAME = 120
ROOM_FOR_FORM = 1 << 20  # bytes of a request beside its file


def too_long() -> str:
    most = filesizeformat(settings.UPLOAD_BYTES)
    return _("The file is larger than %(most)s. Load it on the server with manage.py load_dataset.") % {"most": most}


def is_too_long(length: object) -> bool:
    """Whether a request of this Content-Length is refused before anything of it is read."""
    text = str(length or "")
    return text.isdigit() and int(text) > settings.UPLOAD_BYTES + ROOM_FOR_FORM


def keep(file: "UploadedFile[Any] | None", *, owner: "User", kind: str, dataset: Dataset | None = None) -> Upload:
    """Copy it to its place. Raises InvalidExperiment for what is too long, empty or missing."""
    if file is None or not file.name:
        raise InvalidExperiment({"file": [_("Choose a file.")]})
    if not file.size:
        raise InvalidExperiment({"file": [_("The file is empty.")]})
    if file.size > settings.UPLOAD_BYTES:
        raise InvalidExperiment({"file": [too_long()]})
    upload = Upload(owner=owner, kind=kind, dataset=dataset, name=_safe_name(file.name), size=file.size)
    upload.folder.mkdir(mode=0o700, parents=True)
    try:
        with upload.path.open("wb") as kept:
            for chunk in file.chunks(1 << 20):
                kept.write(chunk)
        upload.save()
    except BaseException:
        upload.forget_file()
        raise
    return upload


def preview(upload: Upload) -> dict[str, Any]:
    """Its first rows, and how they would be read: see the reader's preview. Raises Refused."""
    with process.spool_in(upload.folder) as spool:
        return process.read(upload.path, spool, what="preview", limits={"seconds": 60}).said


def forget_old() -> None:
    """Files that nobody has said how to read, and rows of those long read."""
    oldest = timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    for upload in Upload.objects.filter(state=Upload.State.KEPT, created__lt=oldest)[:100]:
        upload.forget_file()
        upload.delete()


def _safe_name(name: str) -> str:
    """The file's own name, without anything that a file system or a reader could stumble over."""
    plain = re.sub(r"[\x00-\x1f\x7f/\\]", "_", PurePath(name).name).lstrip(".") or "upload"
    suffix = PurePath(plain).suffix[:12]
    return f"{plain[: LONGEST_NAME - len(suffix)]}{suffix}" if len(plain) > LONGEST_NAME else plain
