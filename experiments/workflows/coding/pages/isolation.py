"""What the pages say of the sandbox: which machines run code, what keeps it apart there, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.models import SandboxHost
from experiments.sandbox.host import hosts

UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the walls around a program. detail: what was found, as the self-test says it."""

    label: Any
    holds: bool
    detail: Any


@dataclass(frozen=True, slots=True)
class Machine:
    """refusal: what is missing and how to get it, where nothing may be run. is_unsafe: it runs code without walls."""

    name: str
    backend: Any
    is_sufficient: bool
    is_unsafe: bool
    refusal: str
    layers: tuple[Layer, ...]

    @property
    def held(self) -> int:
        return sum(layer.holds for layer in self.layers)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """machines: those heard of lately. refusal: why nothing can be run now; "" when it can, or when nobody knows."""

    machines: tuple[Machine, ...]
    refusal: str

    @property
    def is_ready(self) -> bool:
        return any(machine.is_sufficient for machine in self.machines)

    @property
    def is_unsafe(self) -> bool:
        return any(machine.is_unsafe for machine in self.machines)


def sandbox() -> Sandbox:
    return Sandbox(tuple(map(_machine, hosts.known())), hosts.refusal())


def backend_label(name: str) -> Any:
    return BACKENDS.get(name, name)


def _machine(host: SandboxHost) -> Machine:
    return Machine(
        name=host.name,
        backend=backend_label(host.backend),
        is_sufficient=host.is_sufficient,
        is_unsafe=host.backend == UNSAFE,
        refusal=host.refusal,
        layers=_layers(host.layers),
    )


def _layers(found: Sequence[Mapping[str, Any]]) -> tuple[Layer, ...]:
    return tuple(
        Layer(LAYERS.get(one["name"], one["name"]), bool(one["holds"]), DETAILS.get(one["detail"], one["detail"]))
        for one in found
    )


BACKENDS = {
    "bubblewrap": "bubblewrap",
    "namespaces": _("Linux namespaces"),
    "landlock": _("Landlock and seccomp"),
    "docker": "Docker",
    UNSAFE: _("no isolation"),
    "off": _("switched off"),
    "": _("none"),
}
LAYERS = {
    "container": _("container"),
    "mount namespace": _("mount namespace"),
    "pid namespace": _("pid namespace"),
    "network namespace": _("network namespace"),
    "ipc namespace": _("ipc namespace"),
    "user namespace": _("user namespace"),
    "unprivileged user": _("unprivileged user"),
    "limits": _("limits"),
    "no new privileges": _("no new privileges"),
    "landlock": "Landlock",
    "seccomp": "seccomp",
    "runs an honest program": _("runs an honest program"),
    "reads no file of this machine": _("reads no file of this machine"),
    "writes no file of this machine": _("writes no file of this machine"),
    "changes no rights of a file": _("changes no rights of a file"),
    "sees no environment variable": _("sees no environment variable"),
    "reads no other process's environment": _("reads no other process's environment"),
    "reaches no TCP server": _("reaches no TCP server"),
    "reaches no Unix socket": _("reaches no Unix socket"),
    "starts no process": _("starts no process"),
    "signals no other process": _("signals no other process"),
    "is stopped at its memory": _("is stopped at its memory"),
    "is stopped at its time": _("is stopped at its time"),
}
DETAILS = {
    "it sees a file system of its own": _("it sees a file system of its own"),
    "it sees no other process, and all of it dies together": _("it sees no other process, and all of it dies together"),
    "it has no network": _("it has no network"),
    "it shares no memory with others": _("it shares no memory with others"),
    "its user is nobody outside": _("its user is nobody outside"),
    "it does not run as root and has no capabilities": _("it does not run as root and has no capabilities"),
    "memory, processor time, threads, open files and file sizes are limited": _(
        "memory, processor time, threads, open files and file sizes are limited"
    ),
    "no program it starts could gain any": _("no program it starts could gain any"),
    "the kernel opens named folders for it and no others": _("the kernel opens named folders for it and no others"),
    "the kernel refuses it whatever an ordinary computation does not need": _(
        "the kernel refuses it whatever an ordinary computation does not need"
    ),
}
