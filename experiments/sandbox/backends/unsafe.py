"""No isolation: a child process with limits, for a machine whose owner trusts the programs. Only when asked by name.

It reads this machine's files, reaches its network and sees its processes; every result says so.
"""

import os

from experiments.sandbox.backends.box import Box
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import Limits


def missing() -> str:
    """Why it cannot be used; empty when it might."""
    return "" if os.name == "posix" else "Programs can be run on Unix alone."


def box(language: Language, limits: Limits) -> Box:
    runtime = language.runtime(True)
    return Box(
        command=tuple(language.command(runtime)),
        request={"uid": None, "wanted": [], "readable": [], "writable": []},
        prefix=language.prefix(runtime),
        has_own_files=False,
    )
