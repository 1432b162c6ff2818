"""What this machine can keep apart: tested when its worker starts, told to all in the database."""

import platform
import threading
from dataclasses import asdict, replace
from datetime import timedelta

from django.conf import settings

from experiments import sandbox
from experiments.models import SandboxHost
from experiments.tasks import clock

FRESH = timedelta(minutes=5)  # a machine that was silent for longer is not there
TOLD_SECONDS = 60.0
NO_BACKEND = "off"
UNSAFE = "unsafe"
is_doubted = threading.Event()  # something could not be run: the machine is to be tested anew
SWITCHED_OFF = "The sandbox of this machine is switched off (ARENA_SANDBOX=off)."


def wanted_backend() -> str | None:
    """The one that an administrator has named; None for the best that there is. Raises Unavailable where there is to
    be none.
    """
    if settings.SANDBOX_BACKEND == NO_BACKEND:
        raise sandbox.Unavailable(SWITCHED_OFF)
    return settings.SANDBOX_BACKEND or None


def check(*, is_fresh: bool = False) -> SandboxHost:
    """Test this machine, and store what was found. A sandbox that is switched off, or is called what none is called, is
    one that refuses. One that an administrator has named unsafe keeps nothing apart, and is meant.
    """
    try:
        wanted = wanted_backend()
        found = sandbox.probe(wanted, fresh=is_fresh)
        if wanted == UNSAFE:
            found = replace(found, is_sufficient=True, refusal="")
    except sandbox.Unavailable as error:
        found = sandbox.Probe(None, (), False, str(error))
    told = {
        "backend": found.backend or "",
        "is_sufficient": found.is_sufficient,
        "refusal": found.refusal,
        "layers": [asdict(layer) for layer in found.layers],
        "checked": clock.now(),
    }
    return SandboxHost.objects.update_or_create(name=own_name(), defaults=told)[0]


def own_name() -> str:
    return platform.node() or "localhost"


def look() -> None:
    """Tell that this machine is there; test it anew where it is doubted."""
    is_fresh = is_doubted.is_set()
    is_doubted.clear()
    check(is_fresh=is_fresh)


def known() -> list[SandboxHost]:
    """The machines that reported lately."""
    return list(SandboxHost.objects.filter(checked__gt=clock.ago(FRESH)))


def is_spared() -> bool:
    """Whether this machine is known to be unable to run code, and another one can: work is left to that one."""
    able = {host.name: host.is_sufficient for host in known()}
    return not able.get(own_name(), True) and any(able.values())


def refusal() -> str:
    """Why no code can be run now, in words; "" when it can, or when no machine has spoken yet."""
    hosts = known()
    if not hosts or any(host.is_sufficient for host in hosts):
        return ""
    return hosts[0].refusal
