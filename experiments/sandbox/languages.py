"""The languages that solutions may be written in: the interpreter of a box, and the program that runs there."""

import marshal
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experiments.sandbox.inside import boot, frames
from experiments.sandbox.values import Unavailable

SYSTEM = Path("/usr/bin/python3")
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32")
EXTRAS = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
PACKAGES = ("site-packages", "dist-packages")
READABLE_BY_ALL, ENTERED_BY_ALL = 0o004, 0o001

INSIDE = Path(boot.__file__).parent
# Each after those that it imports.
INSIDE_MODULES = (
    *("kernel", "frames", "seccomp", "confinement", "unsharing"),
    *("encoding", "harness", "boot"),
)
FORMAT = 2  # of marshal: every Python reads it
START = f"""
import marshal, os, sys
def read(length):
    parts = b""
    while len(parts) < length and (part := os.read(0, length - len(parts))):
        parts += part
    return parts
inside = sys.modules["inside"] = type(sys)("inside")
inside.__path__ = []
for name, code in marshal.loads(read(int.from_bytes(read({frames.LENGTH_BYTES}), "little"))):
    module = sys.modules["inside." + name] = type(sys)("inside." + name)
    module.__package__, module.__file__ = "inside", "inside/" + name + ".py"
    exec(code, module.__dict__)
    setattr(inside, name, module)
inside.boot.main()
"""
OPTIONS = ("-I", "-S", "-B", "-X", "utf8", "-c", START)


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
    places = [folder / name for folder in (standard, Path("/usr/lib/python3")) for name in PACKAGES]
    hidden = [str(path) for path in places if path.is_dir()]
    return Interpreter(str(program), is_ours, (*folders, *needed), links, tuple(hidden))


def is_beneath(path: str, folders: list[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


@cache
def program(is_compiled: bool) -> bytes:
    """For `START` on stdin: compiled, or as text for a Python of another version."""
    parts: list[tuple[str, object]] = []
    for name in INSIDE_MODULES:
        source = (INSIDE / f"{name}.py").read_text(encoding="utf-8")
        compiled = (
            compile(source, f"inside/{name}.py", "exec", dont_inherit=True, optimize=2) if is_compiled else source
        )
        parts.append((name, compiled))
    body = marshal.dumps(parts) if is_compiled else marshal.dumps(parts, FORMAT)
    return frames.counted(body)


@dataclass(frozen=True, slots=True)
class Language:
    """`runtime` says what the box needs of this machine, told whether the folders above it may be private, because
    the box has others there; raises Unavailable when that is missing. `name_in_images` is what it is
    called in a container's image."""

    name: str
    runtime: Callable[[bool], Interpreter]
    options: tuple[str, ...]
    name_in_images: str

    def command(self, runtime: Interpreter) -> list[str]:
        return [runtime.program, *self.options]

    def prefix(self, *, is_ours: bool, plan: dict[str, Any] | None = None) -> bytes:
        """What goes to the box's stdin before the request. is_ours: its Python is of our version. plan: of namespaces
        that the box makes itself.
        """
        return program(is_ours) + frames.counted(marshal.dumps(plan, FORMAT))


PYTHON = Language("python", interpreter, OPTIONS, "python3")
LANGUAGES: Mapping[str, Language] = {language.name: language for language in (PYTHON,)}


def language_named(name: str) -> Language:
    """Raises ValueError for a language that there is not."""
    if name not in LANGUAGES:
        raise ValueError(f"no language {name!r}; there are {', '.join(LANGUAGES)}")
    return LANGUAGES[name]
