"""The set-up page of contests: the sandbox, who sets the problems, what is played for the estimate, and the list."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from experiments.sandbox.host import hosts
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.dry_run import Planned, Sample
from experiments.workflows.coding.assumptions import judged_after, never_set
from experiments.workflows.coding.config import CODERS, LEAST_CODERS, Config

# --- which machines run code, what isolates it there, and what is missing ---

BACKENDS = {
    "bubblewrap": "bubblewrap",
    "namespaces": _("Linux namespaces"),
    "landlock": _("Landlock and seccomp"),
    "docker": "Docker",
    "unsafe": _("no isolation"),
    "off": _("switched off"),
    "": _("none"),
}
KNOWN_WORDS = (  # of `sandbox.isolation` and of the box, which know no translations
    *(gettext_noop("container"), gettext_noop("mount namespace"), gettext_noop("pid namespace")),
    *(gettext_noop("network namespace"), gettext_noop("ipc namespace"), gettext_noop("user namespace")),
    *(gettext_noop("unprivileged user"), gettext_noop("limits"), gettext_noop("no new privileges")),
    *(gettext_noop("runs an honest program"), gettext_noop("reads no file of this machine")),
    *(gettext_noop("writes no file of this machine"), gettext_noop("changes no rights of a file")),
    *(gettext_noop("sees no environment variable"), gettext_noop("reads no other process's environment")),
    *(gettext_noop("reaches no TCP server"), gettext_noop("reaches no Unix socket")),
    *(gettext_noop("starts no process"), gettext_noop("signals no other process")),
    *(gettext_noop("is stopped at its memory"), gettext_noop("is stopped at its time")),
    gettext_noop("it sees a file system of its own"),
    gettext_noop("it sees no other process, and all of it dies together"),
    *(gettext_noop("it has no network"), gettext_noop("it shares no memory with others")),
    gettext_noop("its user does not exist outside"),
    gettext_noop("it does not run as root and has no capabilities"),
    gettext_noop("memory, processor time, threads, open files and file sizes are limited"),
    gettext_noop("no program it starts could gain any"),
    gettext_noop("the kernel opens named folders for it and no others"),
    gettext_noop("the kernel refuses it whatever an ordinary computation does not need"),
)
IN_CAPITALS = {"landlock": "Landlock"}


def backend_label(name: str) -> Any:
    return BACKENDS.get(name, name)


def context(request: HttpRequest) -> dict[str, object]:
    """sandbox: the machines heard of lately, and why nothing can be run now; "" when it can, or none was heard of. Of a
    machine: what is missing and how to get it, where nothing may be run; its layers with what the self-test found.
    """
    machines = [
        {
            "name": host.name,
            "backend": backend_label(host.backend),
            "is_sufficient": host.is_sufficient,
            "is_unsafe": host.backend == hosts.UNSAFE,
            "refusal": host.refusal,
            "held": sum(bool(one["holds"]) for one in host.layers),
            "layers": [
                {"label": _in_words(one["name"]), "holds": one["holds"], "detail": _in_words(one["detail"])}
                for one in host.layers
            ],
        }
        for host in hosts.known()
    ]
    is_unsafe = any(machine["is_unsafe"] for machine in machines)
    return {"sandbox": {"machines": machines, "is_unsafe": is_unsafe, "refusal": hosts.refusal()}}


def _in_words(text: str) -> str:
    """What a machine said of itself, translated where it is one of the known words."""
    return gettext(text) if text in KNOWN_WORDS else IN_CAPITALS.get(text, text)


# --- who sets the problems, and what is played of a contest to estimate it ---


def remarks(form: DeclaredForm) -> Iterator[str]:
    """Who sets the problems, as the form is filled in."""
    models, typed = len(form["coders"].value()), str(form["cycles"].value())
    if models < LEAST_CODERS or not typed.isdecimal():
        return
    each, left = divmod(int(typed), models)
    if not is_in_turn(str(form["setters"].value() or "auto"), int(typed), models):
        words = gettext("The seed draws the setter of each cycle. They divide evenly with %(n)s cycles or a multiple.")
        yield words % {"n": models}
    elif left:
        yield gettext("In turn, but not evenly: that needs %(n)s cycles or a multiple.") % {"n": models}
    else:
        words = ngettext("In turn: every model sets once.", "In turn: every model sets %(n)s times.", each)
        yield words % {"n": each}


def plan(config: Config, seated: Sequence[Any], by: Any) -> Planned:
    """Whether its models are there, and one cycle of many. At most the dearest model sets every problem; in turn, each
    is void at first and set once more at the end. A judge of the whole run is asked once, after all cycles.
    """
    check = config.model_copy(update={"cycles": 0, "setters": "random", "quorum": 1})
    cycle = check.model_copy(update={"cycles": 1, "health_check": False})
    cycles, coders = Fraction(config.cycles), sum(one.seat in CODERS for one in seated)
    void = cycles if is_in_turn(config.setters, config.cycles, coders) else Fraction(0)
    samples = [Sample(check), Sample(cycle, cycles, cycles), Sample(cycle, Fraction(0), void, never_set)]
    if config.asked_live and config.asked_live.definition.unit == "run":
        unjudged = cycle.model_copy(update={"judge": False})
        judged = partial(judged_after, (config.cycles - 1) * coders)
        samples[1:2] = [Sample(unjudged, cycles - 1, cycles - 1), Sample(cycle, measured=judged)]
    words = gettext(
        "A cycle makes %(calls)s calls: 1 problem, %(solutions)s solutions and %(judgments)s judgments, "
        "because every model judges all others."
    )
    judgments = coders * (coders - 1)
    said = {"calls": 1 + coders + judgments, "solutions": coders, "judgments": judgments}
    return Planned(samples, note=words % said)


def is_in_turn(setters: str, cycles: int, coders: int) -> bool:
    return setters == "in_turn" or (setters == "auto" and cycles % coders == 0)
