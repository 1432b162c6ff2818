"""probe() -> Probe: whether a sandbox here holds, found out by attacking it."""

import os
import threading

from experiments.sandbox.attacking import PROGRAM, Attack, attacks
from experiments.sandbox.backends.registry import AUTOMATIC, Backend, backend_named
from experiments.sandbox.errors import NotStarted, Unavailable
from experiments.sandbox.hints import hints
from experiments.sandbox.languages import PYTHON
from experiments.sandbox.limits import Limits
from experiments.sandbox.request import Program
from experiments.sandbox.trial import Trial, tried
from experiments.sandbox.values import Layer, Probe, Result
from experiments.sandbox.walls import WALLS, broken_promises

NEVER_SUFFICIENT = "unsafe keeps nothing in: it is for programs that are trusted, and only when asked for by name."

known: dict[str | None, Probe] = {}
lock = threading.Lock()


def probe(backend: str | None = None, *, fresh: bool = False) -> Probe:
    """Of one backend, or of the first that suffices. Known per process from the first time on, unless `fresh`.

    Raises Unavailable for the name of a backend that there is not.
    """
    with lock:
        if fresh or backend not in known:
            known[backend] = probed(backend_named(backend)) if backend else first_sufficient()
        return known[backend]


def sufficient(name: str | None) -> tuple[Backend, tuple[str, ...]]:
    """The backend to use, and the walls without which it must not run anything. Raises Unavailable."""
    if name == "unsafe":
        return backend_named(name), ()
    found = probe(name)
    if not found.is_sufficient or found.backend is None:
        raise Unavailable(found.refusal)
    required = tuple(layer.name for layer in found.layers if layer.name in WALLS and layer.holds)
    return backend_named(name or found.backend), required


def first_sufficient() -> Probe:
    found = []
    for backend in AUTOMATIC:
        found.append(probed(backend))
        if found[-1].is_sufficient:
            return found[-1]
    return Probe(
        backend=None,
        layers=tuple(layer for one in found for layer in one.layers),
        is_sufficient=False,
        refusal=" ".join(["No sandbox here keeps a program in.", *(one.refusal for one in found), *hints()]),
    )


def probed(backend: Backend) -> Probe:
    if missing := backend.missing():
        return Probe(backend.name, (), is_sufficient=False, refusal=missing)
    try:
        return attacked(backend)
    except (NotStarted, Unavailable) as error:
        return Probe(backend.name, (), is_sufficient=False, refusal=f"{backend.name} does not start: {error}.")


def attacked(backend: Backend) -> Probe:
    with attacks() as planned:
        first, *others = planned
        trial = under_attack(backend, first)
        results = [trial.result, *(under_attack(backend, attack).result for attack in others)]
        verdicts = [shown(attack, result) for attack, result in zip(planned, results, strict=True)]
    walls = [Layer(name, name in trial.layers, words) for name, words in WALLS.items() if is_sought(name)]
    refusal = why_insufficient(backend, trial.layers, verdicts)
    return Probe(backend.name, (*walls, *verdicts), is_sufficient=not refusal, refusal=refusal)


def is_sought(wall: str) -> bool:
    """Root's boxes run as a user whom nobody else is; a user namespace would add nothing to that."""
    return wall != "user namespace" or os.geteuid() != 0


def under_attack(backend: Backend, attack: Attack) -> Trial:
    program = Program(PROGRAM, "solve", Limits(seconds=attack.seconds))
    return tried(program, attack.test, backend=backend, language=PYTHON, seconds=attack.seconds)


def shown(attack: Attack, result: Result) -> Layer:
    """What it ended in."""
    return Layer(
        attack.name, attack.fails(result), f"{result.verdict}: {result.error}" if result.error else result.verdict
    )


def why_insufficient(backend: Backend, walls: tuple[str, ...], verdicts: list[Layer]) -> str:
    if backend.name == "unsafe":
        return NEVER_SUFFICIENT
    lacking = [*broken_promises(walls), *(f"pass the attack “{layer.name}”" for layer in verdicts if not layer.holds)]
    return f"{backend.name} does not {', '.join(lacking)}." if lacking else ""
