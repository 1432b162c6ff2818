"""Which Python runs in the box, and which files of this machine it needs there."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiments.sandbox.errors import Unavailable

SYSTEM = Path("/usr/bin/python3")
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32")
EXTRAS = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
PACKAGES = ("site-packages", "dist-packages")
READABLE_BY_ALL, ENTERED_BY_ALL = 0o004, 0o001


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`readable` are files and folders that the box shows read-only, `links` symbolic links of this machine that it
    repeats, `hidden` folders beneath a readable one that it shows empty: installed packages. `is_ours`: of
    our own version."""

    program: str
    is_ours: bool
    readable: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    hidden: tuple[str, ...]


@cache
def interpreter(may_lie_in_private: bool = True) -> Interpreter:
    """The Python that runs us, without its virtual environment; the system's where strangers may not read ours.

    Raises Unavailable when there is neither.
    """
    own = Path(sys.base_prefix)
    program = Path(sys.base_exec_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    standard = Path(sysconfig.get_path("stdlib", vars={"installed_base": str(own), "base": str(own)}))
    needed = [program, standard, standard / "os.py", *([] if may_lie_in_private else standard.parents)]
    if program.exists() and all(is_public(path) for path in needed):
        return described(program.resolve(), standard.resolve(), is_ours=True)
    if not SYSTEM.exists():
        raise Unavailable(f"No Python that an ordinary user could read: {program} is private and {SYSTEM} is missing.")
    real = SYSTEM.resolve()
    return described(real, Path("/usr/lib") / real.name, is_ours=real.name == program.name)


def is_public(path: Path) -> bool:
    """Whether it can be read, or a folder entered, by the stranger whom root's boxes run as."""
    wanted = ENTERED_BY_ALL if path.is_dir() else READABLE_BY_ALL
    return os.geteuid() != 0 or bool(path.stat().st_mode & wanted)


def described(program: Path, standard: Path, *, is_ours: bool) -> Interpreter:
    links = tuple((path, os.readlink(path)) for path in LIBRARIES if os.path.islink(path))
    folders = [path for path in (*LIBRARIES, *EXTRAS) if os.path.exists(path) and not os.path.islink(path)]
    shared = [str(path) for path in standard.parent.glob("libpython*.so*") if path.is_file()]
    needed = [path for path in (str(program), str(standard), *shared) if not is_beneath(path, folders)]
    hidden = [str(path) for folder in (standard, Path("/usr/lib/python3")) for path in packages_in(folder)]
    return Interpreter(str(program), is_ours, (*folders, *needed), links, tuple(hidden))


def packages_in(folder: Path) -> list[Path]:
    return [folder / name for name in PACKAGES if (folder / name).is_dir()]


def is_beneath(path: str, folders: list[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
