"""Every attack on the sandbox, and how it must end.

An attack is a function of one of the programs in attacks/. It is told all that an attacker could wish to know of the
machine (see machines.py), but not `host.answer`, which is what some tests expect of it. It returns what it has gained;
where that is nothing, the program answers with the word turned around.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from experiments.sandbox import Limits

FOLDER = Path(__file__).parent / "attacks"
SOLVING = (FOLDER.parent / "solving.py").read_text()
PROGRAMS = {path.stem: SOLVING + path.read_text() for path in sorted(FOLDER.glob("*.py"))}
WRITTEN = {name: stem for stem, code in PROGRAMS.items() for name in re.findall(r"^def (\w+)\(host\)", code, re.M)}
CALM, HURRIED = Limits(total_seconds=600), Limits(seconds=1, total_seconds=600)


@dataclass(frozen=True)
class Attack:
    """`verdicts` are those that its test may end with."""

    name: str
    verdicts: frozenset[str]
    is_cheat: bool = False  # it would have to know the answer that nobody told it
    works_unboxed: bool = False  # whoever runs it does harm where there are no walls: it is no attack in name only
    shares_its_box: bool = False  # where it is refused nothing is used up or changed: the next one finds all as before
    limits: Limits = field(default=CALM)

    @property
    def program(self) -> str:
        return WRITTEN[self.name]

    def __str__(self) -> str:
        return self.name


def attacks(verdicts: str, names: str, **facts: object) -> Iterator[Attack]:
    """An attack of each name, with the same facts."""
    return (Attack(name, frozenset(verdicts.split()), **facts) for name in names.split())  # type: ignore[arg-type]


REFUSED = """
    files_write_interpreter files_symlink_traps files_environ_of_all files_write_outside files_parent_folders
    secrets_privileges secrets_become_root process_stays_after_parents process_kill_parents kernel_namespaces
    kernel_unfilter
"""
REFUSED_AND_REAL = """
    files_canary files_changed secrets_environment net_tcp net_udp net_unix process_clone process_subprocess
"""
ANSWERS_AND_MORE = "time_at_exit time_in_thread text_not_unicode"
HUNTS = "files_own_source files_open_descriptors files_memory_of_itself hunted_input"
FORGERIES = "channel_forged exit_prints_after_answer patched_harness"
ENDS = "exit_interrupted files_core_dump channel_closed"
HANGS = """
    time_holds_interpreter output_slow process_stays process_stop_itself process_ignores_signals channel_half
"""

ATTACKS = (
    # Refused, and the program then answers with the truth: "passed" says that nothing was gained.
    *attacks("passed", REFUSED, shares_its_box=True),
    *attacks("passed", REFUSED_AND_REAL, shares_its_box=True, works_unboxed=True),
    *attacks("passed", ANSWERS_AND_MORE),
    *attacks("passed error", "kernel_old_calls patched_exit"),
    # The answer is not there to be found, and nothing else is taken for it.
    *attacks("failed error", HUNTS, is_cheat=True),
    *attacks("failed error", FORGERIES, is_cheat=True),
    *attacks("failed error output_limit", "channel_flooded", is_cheat=True),
    *attacks("error", ENDS),
    # What it may use up.
    *attacks("memory", "limits_raised"),
    *attacks("memory error", "recursion_unlimited"),
    *attacks("passed memory error", "memory_mapped"),
    *attacks("timeout", HANGS, limits=HURRIED),
)
