"""A report or an export, as it was sent."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import httpx

NAMED = re.compile(r'filename="([^"]+)"')


@dataclass(frozen=True, slots=True)
class File:
    """name: as the platform calls it."""

    name: str
    content_type: str
    content: bytes = field(repr=False)

    @property
    def text(self) -> str:
        return self.content.decode("utf-8")

    def save(self, place: str | Path = ".") -> Path:
        """Into a folder under its own name, or under the name that is given. Returns where."""
        path = Path(place)
        path = path / self.name if path.is_dir() else path
        path.write_bytes(self.content)
        return path


def file_of(response: httpx.Response, otherwise: str) -> File:
    """otherwise: its name where the answer has none. Only the last part of a name is taken."""
    found = NAMED.search(response.headers.get("content-disposition", ""))
    name = re.split(r"[/\\]", found[1])[-1] if found else ""
    return File(name if name.strip(".") else otherwise, response.headers.get("content-type", ""), response.content)
