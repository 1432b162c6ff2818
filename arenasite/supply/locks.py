"""The locked requirements: exact versions with the digests of their files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OURS = "arena-lab"
PIN = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\]*))?")
HASH = re.compile(r"^--hash=sha256:([0-9a-f]{64})$")
WANTED_BY = re.compile(r"^#(?:\s+via)?\s+(?P<name>[a-z0-9][a-z0-9._-]*)(?:\s+\(.*\))?$")


class UnreadableLock(ValueError):
    """A line of a lock is no pinned requirement, no digest and no comment: an address of a registry, for example."""


@dataclass(frozen=True, slots=True)
class Package:
    """hashes: SHA-256, in hexadecimal, of every file of this version. wanted_by: names of packages, or of ours."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    wanted_by: tuple[str, ...]


def read(path: Path) -> list[Package]:
    """In the order of the file. Raises UnreadableLock."""
    return [_package(lines) for lines in _blocks(path.read_text(encoding="utf-8"), path.name)]


def _blocks(text: str, name: str) -> Iterator[list[str]]:
    block: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip().removesuffix("\\").strip()
        if PIN.match(stripped):
            if block:
                yield block
            block = [stripped]
        elif stripped and not (block and (HASH.match(stripped) or stripped.startswith("#"))):
            raise UnreadableLock(f"{name}, line {number}: {stripped[:80]!r}")
        elif stripped:
            block.append(stripped)
    if block:
        yield block


def _package(lines: list[str]) -> Package:
    pin = PIN.match(lines[0])
    assert pin is not None  # noqa: S101 - for mypy: a block begins with one
    return Package(
        name=pin["name"].lower(),
        version=pin["version"],
        marker=(pin["marker"] or "").strip(),
        hashes=tuple(found[1] for line in lines if (found := HASH.match(line))),
        wanted_by=tuple(found["name"] for line in lines if (found := WANTED_BY.match(line))),
    )
