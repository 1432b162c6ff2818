"""Pictures of strangers: looked at pixel by pixel before anybody else is."""

import base64
import binascii
import hashlib
import warnings
from io import BytesIO

from PIL import Image, ImageFile, UnidentifiedImageError

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits

MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
DATA_ADDRESS = "data:image/"
ADDRESSES = ("http://", "https://", "ftp://", "file://", "s3://", "gs://", "hf://")
BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError)


def prepare(limits: Limits) -> None:
    """What Pillow would let pass with a warning is an error here."""
    Image.MAX_IMAGE_PIXELS = limits.pixels
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def checked(data: bytes, limits: Limits) -> dict[str, str | int]:
    """sha256, mime, width, height, size of a still picture that can be shown whole. Raises CannotRead without a
    place.
    """
    if len(data) > limits.picture:
        raise CannotRead("heavy_picture", most=limits.picture)
    try:
        return _looked_at(data, limits)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise CannotRead("vast_picture", pixels=limits.pixels, side=limits.side) from error
    except UnidentifiedImageError as error:
        raise CannotRead("no_picture") from error
    except BROKEN as error:
        raise CannotRead("broken_picture") from error


def _looked_at(data: bytes, limits: Limits) -> dict[str, str | int]:
    with Image.open(BytesIO(data), formats=tuple(MIMES)) as picture:
        width, height = picture.size
        if width * height > limits.pixels or max(width, height) > limits.side:
            raise CannotRead("vast_picture", pixels=limits.pixels, side=limits.side)
        if getattr(picture, "n_frames", 1) > 1:
            raise CannotRead("moving_picture")
        picture.load()
        mime = MIMES[picture.format or ""]
    with Image.open(BytesIO(data), formats=tuple(MIMES)) as again:
        again.verify()  # checksums, and whether the end is there; leaves the picture unusable
    sha256 = hashlib.sha256(data).hexdigest()
    return {"sha256": sha256, "mime": mime, "width": width, "height": height, "size": len(data)}


def of_data_address(text: str) -> bytes:
    """The bytes of data:image/png;base64,…"""
    head, _comma, body = text.partition(",")
    if not head.endswith(";base64"):
        raise CannotRead("broken_picture")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise CannotRead("broken_picture") from error


def is_address(text: str) -> bool:
    return text.lower().startswith(ADDRESSES)
