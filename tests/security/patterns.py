"""Every pattern of the project, and texts of 100,000 characters that make a bad one slow.

python -m tests.security.patterns FROM TO    measures those of the sorted list, and prints what was too slow
"""

import importlib
import os
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from experiments.workflows.battles import words

LENGTH = 100_000
SECONDS = 0.1
END = "\x01!"  # fits nothing
GIVEN_UP = 1.0  # seconds after which a pattern has shown what it is
# What is only ever given shorter texts: sentences of a verdict, and names.
SHORTER = {"experiments.workflows.battles.words.": words.LONGEST_SENTENCE}
PACKAGES = ("accounts", "arenasite", "experiments", "leaderboard", "arena_lab")
LEFT_OUT = (".migrations", ".management", "__main__", "asgi", ".simulated", ".conftest")


def patterns() -> dict[str, "re.Pattern[str]"]:
    """By the module and the name; those in lists and tables too."""
    found: dict[str, re.Pattern[str]] = {}
    for name in sorted(_modules()):
        for variable, value in sorted(vars(importlib.import_module(name)).items()):
            for place, pattern in _inside(value):
                if isinstance(pattern.pattern, str) and pattern not in found.values():
                    found[f"{name}.{variable}{place}"] = pattern
    return found


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        top = importlib.import_module(package)
        for module in pkgutil.walk_packages(top.__path__, f"{package}."):
            if not any(part in module.name for part in LEFT_OUT):
                yield module.name


def _inside(value: Any, depth: int = 0) -> Iterator[tuple[str, "re.Pattern[str]"]]:
    if isinstance(value, re.Pattern):
        yield "", value
    elif isinstance(value, tuple | list | dict) and depth < 3:
        items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        for key, inner in items:
            yield from ((f"[{key}]{place}", pattern) for place, pattern in _inside(inner, depth + 1))


def texts(pattern: "re.Pattern[str]") -> Iterator[str]:
    """What each repetition of the pattern repeats, again and again, with an end that does not fit; alone, and after
    what stands before it.
    """
    repeats = dict.fromkeys(_repeats(list(parser.parse(pattern.pattern, pattern.flags)), ""))
    pieces = [piece for before, repeated in repeats for piece in (repeated, before + repeated)]
    for piece in filter(None, dict.fromkeys((" ", "a", "\n", "`", "[", "(", *pieces))):
        yield piece * ((LENGTH - len(END)) // len(piece)) + END
    for before, repeated in repeats:
        if before:
            yield (before + repeated * LENGTH)[: LENGTH - 1] + "\x01"


def _repeats(nodes: list[Any], before: str) -> Iterator[tuple[str, str]]:
    for code, argument in nodes:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _least, most, inner = argument
            if most > 8:
                yield before, _sample(list(inner))
            yield from _repeats(list(inner), before)
        elif code is codes.SUBPATTERN:
            yield from _repeats(list(argument[-1]), before)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _repeats(list(branch), before)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(list(argument[1]), before)
        before += _sample([(code, argument)])


def _sample(nodes: list[Any]) -> str:
    return "".join(_one(code, argument) for code, argument in nodes)


def _one(code: Any, argument: Any) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.NOT_LITERAL or code is codes.ANY:
        return "x" if argument != ord("x") else "y"
    if code is codes.IN:
        return _of_set(argument)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sample(list(argument[2])) * max(1, min(argument[0], 4))
    if code is codes.SUBPATTERN:
        return _sample(list(argument[-1]))
    return _sample(list(argument[1][0])) if code is codes.BRANCH else ""


def _of_set(items: list[Any]) -> str:
    if items[0][0] is codes.NEGATE:
        taken = {argument for code, argument in items[1:] if code is codes.LITERAL}
        return next(mark for mark in "x ;=\x02" if ord(mark) not in taken)
    code, argument = items[-1]
    if code is codes.RANGE:
        return chr(argument[0])
    named = {codes.CATEGORY_SPACE: " ", codes.CATEGORY_DIGIT: "7", codes.CATEGORY_WORD: "w"}
    return chr(argument) if code is codes.LITERAL else named.get(argument, "x")


class Slow(Exception):
    pass


def _give_up(*_: Any) -> None:
    raise Slow


def is_sought_everywhere(name: str) -> bool:
    """Whether some of the code looks further than at the beginning of a text."""
    module, _, variable = name.rpartition(".")
    source = Path(str(importlib.import_module(module).__file__)).read_text(encoding="utf-8")
    used = set(re.findall(rf"\b{variable.partition('[')[0]}\.(\w+)\(", source))
    return not used or bool(used - {"match", "fullmatch"})


def slowest(pattern: "re.Pattern[str]", length: int = LENGTH, *, everywhere: bool = True) -> tuple[float, str]:
    """CPU seconds of the worst text, and how it begins. everywhere: all matches are looked for, as `sub` does."""
    worst, by = 0.0, ""
    signal.signal(signal.SIGVTALRM, _give_up)
    for text in (text[-length:] for text in texts(pattern)):
        try:
            taken = _seconds(pattern, text, everywhere=everywhere)
            if taken > SECONDS:  # a core that others share does less in a second: the quickest of three times counts
                taken = min(taken, *(_seconds(pattern, text, everywhere=everywhere) for _ in range(2)))
        except Slow:
            return GIVEN_UP, text[:40]
        if taken > worst:
            worst, by = taken, text[:40]
    return worst, by


def _seconds(pattern: "re.Pattern[str]", text: str, *, everywhere: bool) -> float:
    """Raises Slow for what takes far too long."""
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP)
    begun = time.process_time()
    try:
        for _found in pattern.finditer(text) if everywhere else (pattern.match(text),):
            pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - begun


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    importlib.import_module("django").setup()
    for name, pattern in patterns().items():
        length = next((most for place, most in SHORTER.items() if name.startswith(place)), LENGTH)
        seconds, text = slowest(pattern, length, everywhere=is_sought_everywhere(name))
        if seconds > SECONDS:
            sys.stdout.write(f"{seconds:.2f}\t{name}\t{text!r}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, "client/src")
    main()
