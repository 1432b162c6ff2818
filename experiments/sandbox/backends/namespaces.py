"""Namespaces made by ourselves, for machines without bubblewrap: the same walls, no program needed."""

import os

from experiments.sandbox.backends.box import DEVICES, INFO, TEMPORARY, Box, ordinary_user
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import Limits

NAMES = ("mount namespace", "pid namespace", "network namespace", "ipc namespace")


def box(language: Language, limits: Limits) -> Box:
    runtime = language.runtime(True)
    plan = {
        "links": list(runtime.links),
        "readable": list(runtime.readable),
        "devices": list(DEVICES),
        "hidden": list(runtime.hidden),
    }
    return Box(
        command=(*language.command(runtime), INFO),
        request={
            "uid": ordinary_user(),
            "unshare": plan,
            "temporary": [limits.disk, limits.entries],
            "readable": [*runtime.readable, *DEVICES[1:]],
            "writable": [TEMPORARY, DEVICES[0]],
        },
        prefix=language.prefix(runtime),
        layers=NAMES if os.geteuid() == 0 else ("user namespace", *NAMES),
    )
