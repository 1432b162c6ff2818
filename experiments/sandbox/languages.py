"""The languages that solutions may be written in.

A language says how a box for it is filled: what of this machine the box shows, and the program that reads a request
on stdin and answers in frames on stdout (`inside/boot.py` is Python's).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiments.sandbox.boxed import START, program
from experiments.sandbox.interpreters import Interpreter, interpreter

OPTIONS = ("-I", "-S", "-B", "-X", "utf8", "-c", START)


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

    def prefix(self, runtime: Interpreter) -> bytes:
        """What goes to the box's stdin before the request."""
        return program(runtime.is_ours)


PYTHON = Language("python", interpreter, OPTIONS, "python3")
LANGUAGES: Mapping[str, Language] = {language.name: language for language in (PYTHON,)}


def language_named(name: str) -> Language:
    """Raises ValueError for a language that there is not."""
    if name not in LANGUAGES:
        raise ValueError(f"no language {name!r}; there are {', '.join(LANGUAGES)}")
    return LANGUAGES[name]
