"""What one cell of a table holds, as text, a number, further fields or pictures, which are looked at pixel by pixel."""

import base64
import binascii
import hashlib
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from PIL import Image, ImageFile, UnidentifiedImageError

from experiments.library.datasets.reader.limits import CannotRead, Limits
from experiments.library.datasets.reader.tree import Tree

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NUMBER = re.compile(r"\d{1,10}(\.0*)?")
MOST_NUMBER = 2**31 - 1
MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
DATA_ADDRESS = "data:image/"
ADDRESSES = ("http://", "https://", "ftp://", "file://", "s3://", "gs://", "hf://")
BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError)
BYTES = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a table, counted from 1, as complaints name it."""

    file: str
    row: int

    def refusal(self, code: str, **facts: Any) -> CannotRead:
        return CannotRead(code, file=self.file, row=self.row, **facts)


def text_of(value: Any, place: Place, column: str, most: int) -> str:
    """The cell as text; empty when there is nothing. Raises CannotRead for bytes and for more than `most`
    characters.
    """
    if value is None:
        return ""
    if isinstance(value, BYTES):
        raise place.refusal("bytes_as_text", column=column)
    text = value if isinstance(value, str) else json.dumps(jsonable(value), ensure_ascii=False)
    if len(text) > most:
        raise place.refusal("long_text", column=column, most=most)
    return storable(text)


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def number_of(value: Any, place: Place, column: str) -> int:
    """A number from 0 to 2147483647. Raises CannotRead."""
    text = str(value).strip()
    try:
        number = float(text) if NUMBER.fullmatch(text) else math.nan
    except ValueError:
        number = math.nan
    if not 0 <= number <= MOST_NUMBER:
        raise place.refusal("no_number", column=column, found=text[:40])
    return int(number)


def is_number(value: Any) -> bool:
    return not isinstance(value, bool) and bool(NUMBER.fullmatch(str(value).strip()))


def jsonable(value: Any) -> Any:
    """The value as every database keeps JSON: no NaN, no bytes, no odd characters."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable(str(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [jsonable(item) for item in value]
    return None if isinstance(value, BYTES) else storable(str(value))


def fields_of(value: Any) -> dict[str, object]:
    """Further fields from a cell that holds an object, or the JSON text of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"metadata": storable(value)} if value.strip() else {}
    if isinstance(value, Mapping):
        return dict(jsonable(value))
    return {} if value is None else {"metadata": jsonable(value)}


class PictureCells:
    """Finds the bytes of the pictures that a cell holds or names. folders: where named ones lie."""

    def __init__(self, tree: Tree, limits: Limits) -> None:
        self._tree, self._limits = tree, limits
        self.folders: set[str] = set()

    def of(self, value: Any, place: Place) -> list[bytes]:
        found = list(self._bytes(value, place))
        if len(found) > self._limits.pictures_of_sample:
            raise place.refusal("many_pictures", most=self._limits.pictures_of_sample)
        return found

    def _bytes(self, value: Any, place: Place) -> Iterator[bytes]:
        if isinstance(value, BYTES):
            yield bytes(value)
        elif isinstance(value, Mapping) and ("bytes" in value or "path" in value):
            yield from self._bytes(value.get("bytes") or value.get("path"), place)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._bytes(item, place)
        elif isinstance(value, str):
            yield from self._named(value.strip(), place)
        elif value is not None:
            raise place.refusal("odd_picture")

    def _named(self, text: str, place: Place) -> Iterator[bytes]:
        if text.startswith("["):
            try:
                yield from self._bytes(json.loads(text), place)
            except (ValueError, RecursionError) as error:
                raise place.refusal("odd_picture") from error
        elif text.startswith(DATA_ADDRESS):
            head, _comma, body = text.partition(",")
            if not head.endswith(";base64"):
                raise place.refusal("broken_picture")
            try:
                yield base64.b64decode(body, validate=True)
            except (binascii.Error, ValueError) as error:
                raise place.refusal("broken_picture") from error
        elif text.lower().startswith(ADDRESSES):
            raise place.refusal("picture_address", name=text[:120])
        elif text:
            yield self._file(text, place)

    def _file(self, text: str, place: Place) -> bytes:
        """A picture beside the table, or anywhere between it and the root."""
        name = text.removeprefix("./")
        if name.startswith(("/", "\\")) or ".." in name.split("/"):
            raise place.refusal("unsafe_path", name=text[:120])
        folder = place.file.rpartition("/")[0]
        while (candidate := f"{folder}/{name}" if folder else name) not in self._tree.files:
            if not folder:
                raise place.refusal("no_such_picture", name=text[:120])
            folder = folder.rpartition("/")[0]
        if self._tree.files[candidate] > self._limits.picture:
            raise place.refusal("heavy_picture", most=self._limits.picture)
        self.folders.add(candidate.rpartition("/")[0])
        return self._tree.read(candidate)


def be_strict(limits: Limits) -> None:
    """What Pillow would let pass with a warning is an error here."""
    Image.MAX_IMAGE_PIXELS = limits.pixels
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def checked_picture(data: bytes, limits: Limits, **place: Any) -> dict[str, str | int]:
    """sha256, mime, width, height, size of a still picture that can be shown whole. Raises CannotRead, which names the
    place.
    """
    if len(data) > limits.picture:
        raise CannotRead("heavy_picture", most=limits.picture, **place)
    vast = CannotRead("vast_picture", pixels=limits.pixels, side=limits.side, **place)
    try:
        with Image.open(BytesIO(data), formats=tuple(MIMES)) as picture:
            width, height = picture.size
            if width * height > limits.pixels or max(width, height) > limits.side:
                raise vast
            if getattr(picture, "n_frames", 1) > 1:
                raise CannotRead("moving_picture", **place)
            picture.load()
            mime = MIMES[picture.format or ""]
        with Image.open(BytesIO(data), formats=tuple(MIMES)) as again:
            again.verify()  # checksums, and whether the end is there; leaves the picture unusable
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise vast from error
    except UnidentifiedImageError as error:
        raise CannotRead("no_picture", **place) from error
    except BROKEN as error:
        raise CannotRead("broken_picture", **place) from error
    sha256 = hashlib.sha256(data).hexdigest()
    return {"sha256": sha256, "mime": mime, "width": width, "height": height, "size": len(data)}
