"""Every backend by its name, in the order in which they are tried."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from experiments.sandbox.backends import bubblewrap, docker, landlock, namespaces, unsafe
from experiments.sandbox.backends.box import Box, why_impossible
from experiments.sandbox.errors import Unavailable
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import Limits
from experiments.sandbox.values import BackendName


@dataclass(frozen=True, slots=True)
class Backend:
    """`missing` says what stands in its way before anything is tried; `is_automatic`: used without being asked for."""

    name: BackendName
    missing: Callable[[], str]
    box: Callable[[Language, Limits], Box]
    is_automatic: bool = True


BACKENDS = (
    Backend("bubblewrap", bubblewrap.missing, bubblewrap.box),
    Backend("namespaces", why_impossible, namespaces.box),
    Backend("landlock", why_impossible, landlock.box),
    Backend("docker", docker.missing, docker.box, is_automatic=False),
    Backend("unsafe", unsafe.missing, unsafe.box, is_automatic=False),
)
AUTOMATIC = tuple(backend for backend in BACKENDS if backend.is_automatic)


def backend_named(name: str) -> Backend:
    """`docker:IMAGE` is the docker backend with that image. Raises Unavailable for one that there is not."""
    kind, _, image = name.partition(":")
    for backend in BACKENDS:
        if backend.name == kind and image and kind == "docker":
            return replace(backend, box=partial(docker.box, image=image))
        if backend.name == name:
            return backend
    raise Unavailable(f"There is no sandbox {name!r}; there are {', '.join(backend.name for backend in BACKENDS)}.")
