"""Where workflows keep what Django wants to be told of: template tags, and the templates, static files and translations
of those that installed distributions bring.

They are found by name, without importing anything: one that cannot be imported takes nothing down.
"""

from functools import cache
from importlib import metadata, util
from pathlib import Path

GROUP = "arena_lab.workflows"


@cache
def _packages() -> tuple[Path, ...]:
    names = {point.module.partition(".")[0] for point in metadata.entry_points(group=GROUP)}
    specs = [util.find_spec(name) for name in sorted(names)]
    return tuple(Path(spec.origin).parent for spec in specs if spec and spec.origin)


def tag_libraries(package: str) -> dict[str, str]:
    """The modules of template tags of the workflows that come along, by their slugs."""
    found = Path(__file__).parent.parent.joinpath(*package.split(".")).glob("*/tags.py")
    return {path.parent.name: f"{package}.{path.parent.name}.tags" for path in found}


def folders(name: str) -> list[Path]:
    """The folders of this name that the packages have."""
    return [path for package in _packages() if (path := package / name).is_dir()]
