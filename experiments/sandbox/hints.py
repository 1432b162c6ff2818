"""How to get isolation on a machine that has none: from what the machine says of itself."""

import os
from pathlib import Path

SWITCHES = {
    "proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "Ordinary users may not make namespaces here: sysctl -w kernel.unprivileged_userns_clone=1.",
    ),
    "proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor keeps ordinary users from namespaces (Ubuntu 23.10 and later): allow bwrap by a profile in "
        "/etc/apparmor.d, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.",
    ),
    "proc/sys/user/max_user_namespaces": (
        "0",
        "The number of user namespaces is limited to none: sysctl -w user.max_user_namespaces=10000.",
    ),
}
CONTAINERS = (".dockerenv", "run/.containerenv")
IN_A_CONTAINER = (
    "This is a container, and its runtime forbids namespaces: start it with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined, or let a Docker daemon run the programs (backend docker)."
)
OTHERWISE = "Where none of this can be had, let a Docker daemon run the programs (backend docker)."


def hints(root: Path = Path("/")) -> list[str]:
    """Sentences that say what to do, at least one."""
    found = [words for path, (bad, words) in SWITCHES.items() if read(root / path) == bad]
    if any((root / name).exists() for name in CONTAINERS):
        return [*found, IN_A_CONTAINER]
    if not found and os.uname().sysname == "Linux" and not Path("/usr/bin/bwrap").exists():
        found = ["Install bubblewrap: apt install bubblewrap."]
    return [*found, OTHERWISE]


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
