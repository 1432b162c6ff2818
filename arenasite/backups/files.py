"""The files that belong to rows: pictures, uploads that wait, and, if asked for, finished exports."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from django.conf import settings

from arenasite.backups.archive import CHUNK, Reader, Writer
from arenasite.backups.errors import BackupRefused

FOLDER = "files/"


def places(*, with_exports: bool) -> dict[str, Path]:
    kept = {"images": Path(settings.IMAGES_DIR), "uploads": Path(settings.UPLOADS_DIR)}
    return kept | ({"exports": Path(settings.EXPORTS_DIR)} if with_exports else {})


def put_all(archive: Writer, *, with_exports: bool) -> int:
    """How many there were. Taken after the rows: what was added since is harmless, and what goes meanwhile is gone."""
    count = 0
    for name, root in places(with_exports=with_exports).items():
        for path in _files(root):
            try:
                file = path.open("rb")
            except FileNotFoundError:
                continue
            with file, archive.entry(f"{FOLDER}{name}/{path.relative_to(root).as_posix()}", is_packed=False) as entry:
                while chunk := file.read(CHUNK):
                    entry.write(chunk)
            count += 1
    return count


def take_all(archive: Reader) -> int:
    """Put the files back to their places; the same file twice is no harm. Raises BackupRefused."""
    roots = places(with_exports=True)
    names = archive.names(FOLDER)
    for name in names:
        place, *rest = PurePosixPath(name.removeprefix(FOLDER)).parts
        if place not in roots or not rest or any(part in {"..", "/"} for part in rest):
            raise BackupRefused(f"The backup has a file {name!r} that belongs nowhere here. Nothing was changed.")
        _write(archive, name, roots[place].joinpath(*rest))
    return len(names)


def _files(root: Path) -> Iterator[Path]:
    """Links are not followed, and drafts (they begin with a dot) are nobody's yet."""
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if _is_kept(Path(folder, name)))


def _is_kept(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_file() and not path.is_symlink()


def _write(archive: Reader, name: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".restored-", delete=False) as draft:
            try:
                with archive.open(name) as inner:
                    shutil.copyfileobj(inner, draft, CHUNK)
                os.replace(draft.name, path)
            except BaseException:
                os.unlink(draft.name)
                raise
    except OSError as error:
        raise BackupRefused(
            f"{path} could not be written: {error.strerror or error}. The database was not changed; make room or give "
            "the right, and restore again."
        ) from error
