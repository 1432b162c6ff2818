"""The pictures of a prompt: which fence each stands in, and how much there is to be seen in it."""

import base64
import binascii
import hashlib
import math
import re
from dataclasses import dataclass
from typing import Any, Final

_OPENED: Final = re.compile(r"\[\[([\w-]+) [0-9a-f]{4,}\]\]\s*$")
_DATA: Final = re.compile(r"data:image/[\w.+-]+;base64,")
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})  # markers of JPEG that name the size
_PIXELS_PER_TOKEN: Final = 28 * 28
_LEAST_TOKENS: Final = 256
_MOST_BITS, _MOST_PIXELS = 24.0, 22.0  # bits per pixel, and the logarithm of pixels, that count as a full picture


@dataclass(frozen=True, slots=True)
class Picture:
    """fence: the name of the one it stands in, "" for none. size in bytes; width, height in pixels, 0 when unknown."""

    fence: str
    digest: str
    size: int
    width: int = 0
    height: int = 0

    @property
    def tokens(self) -> int:
        return max(_LEAST_TOKENS, math.ceil(self.width * self.height / _PIXELS_PER_TOKEN))

    @property
    def detail(self) -> float:
        """0 to 1: how much there is to be seen, by what a compressed pixel takes and how many there are."""
        pixels = self.width * self.height or self.size
        bits = 8 * self.size / max(1, pixels)
        fine = min(math.log2(1 + 4 * bits) / math.log2(1 + 4 * _MOST_BITS), 1.0)
        return 0.75 * fine + 0.25 * min(math.log2(1 + pixels) / _MOST_PIXELS, 1.0)


def read_pictures(content: object) -> list[Picture]:
    """The pictures of a message's content. One that was opened by a fence just before belongs to it, and so do those
    that follow without a text between them.
    """
    found: list[Picture] = []
    fence = ""
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            opened = _OPENED.search(part["text"])
            fence = opened[1] if opened else ""
        elif url := _url(part):
            found.append(_picture(url, fence))
    return found


def _url(part: Any) -> str:
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) else ""


def _picture(url: str, fence: str) -> Picture:
    """Of an address only the address is known: nothing is fetched."""
    digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    header = _DATA.match(url)
    if header is None:
        return Picture(fence, digest, len(url))
    try:
        data = base64.b64decode(url[header.end() :])
    except (binascii.Error, ValueError):
        return Picture(fence, digest, len(url))
    return Picture(fence, digest, len(data), *_dimensions(data))


def _dimensions(data: bytes) -> tuple[int, int]:
    """Width and height as the header names them; 0 and 0 for other formats."""
    if data.startswith(_PNG) and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith(_JPEG):
        return _jpeg(data)
    return 0, 0


def _jpeg(data: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        if data[place + 1] in _FRAMES:
            return int.from_bytes(data[place + 7 : place + 9]), int.from_bytes(data[place + 5 : place + 7])
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return 0, 0
