"""No namespaces, for containers that allow none: Landlock hides the files, seccomp the network and other processes.

Weaker than the two others in one point: a program can find out whether a path exists. Nothing is writable.
"""

from experiments.sandbox.backends.box import DEVICES, Box, ordinary_user
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import Limits


def box(language: Language, limits: Limits) -> Box:
    runtime = language.runtime(False)
    return Box(
        command=tuple(language.command(runtime)),
        request={
            "uid": ordinary_user(),
            "readable": [*runtime.readable, *DEVICES[1:]],
            "writable": [DEVICES[0]],
        },
        prefix=language.prefix(runtime),
    )
