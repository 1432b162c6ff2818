"""bubblewrap: the namespaces are made by `bwrap`, a small program that every distribution packages."""

import os
import shutil

from experiments.sandbox.backends.box import DEVICES, INFO, TEMPORARY, Box, folders_above, ordinary_user, why_impossible
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import Limits

NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
CAPABILITIES = [word for name in ("SETUID", "SETGID", "KILL") for word in ("--cap-add", f"CAP_{name}")]
OPEN_FOLDER = ("--perms", "0755", "--dir")  # left to itself, bubblewrap makes folders that the candidate cannot enter


def missing() -> str:
    """Why it cannot be used; empty when it might."""
    return why_impossible() or ("" if shutil.which("bwrap") else "bubblewrap is not installed: apt install bubblewrap.")


def box(language: Language, limits: Limits) -> Box:
    """A box whose first process is our own; run by root it becomes another user, by others it has a user namespace.

    Our first process mounts the box's `/tmp`, and drops the right to: bubblewrap cannot limit how many files lie there.
    """
    uid = ordinary_user()
    runtime = language.runtime(True)
    identity = ["--unshare-user"] if uid is None else CAPABILITIES
    command = [str(shutil.which("bwrap")), *NAMESPACES, "--cap-drop", "ALL", *identity]
    command += ["--as-pid-1", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "box"]
    command += [word for path, target in runtime.links for word in ("--symlink", target, path)]
    command += [word for path in folders_above((*runtime.readable, *DEVICES)) for word in (*OPEN_FOLDER, path)]
    command += [word for path in runtime.readable for word in ("--ro-bind", path, path)]
    command += [word for path in runtime.hidden for word in ("--tmpfs", path, "--remount-ro", path)]
    command += [word for device in DEVICES for word in ("--dev-bind", device, device)]
    command += ["--cap-add", "CAP_SYS_ADMIN", "--dir", TEMPORARY, "--remount-ro", "/"]
    names = ("mount namespace", "pid namespace", "network namespace", "ipc namespace")
    return Box(
        command=(*command, "--info-fd", INFO, "--", *language.command(runtime)),
        request={
            "uid": uid,
            "temporary": [limits.disk, limits.entries],
            "readable": [*runtime.readable, *DEVICES[1:]],
            "writable": [TEMPORARY, DEVICES[0]],
        },
        prefix=language.prefix(runtime),
        layers=names if os.geteuid() == 0 else ("user namespace", *names),
    )
