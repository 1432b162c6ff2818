"""Every attack ends in its verdict, the tests around it keep theirs, and the machine outside has noticed nothing."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest

from experiments.sandbox import Execution, Test, probe, run
from tests.cases import each_case
from tests.experiments.sandbox.attack_list import ATTACKS, FOLDER, Attack
from tests.experiments.sandbox.machines import Host, trapped
from tests.experiments.sandbox.sources import RUNNABLE, UNRUNNABLE
from tests.paces import PACES

pytestmark = pytest.mark.system
BEST, OTHERS = "bubblewrap", ("namespaces", "landlock")
ON_WALLS = ("files_", "secrets_", "net_", "process_", "kernel_", "memory_")  # what differs from backend to backend
FAMILIES = sorted({attack.name.partition("_")[0] for attack in ATTACKS})
REAL = [attack for attack in ATTACKS if attack.works_unboxed]
WITHOUT_WALLS = """
import json, sys
names = {"__name__": "solution"}
exec(compile(sys.argv[2], "solution", "exec"), names)
print("\\n" + json.dumps(names["solve"](*json.loads(sys.argv[1]))))
"""


@contextmanager
def fresh_host() -> Iterator[Host]:
    with trapped() as machine, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_CANARY", machine.secret)
        yield machine


@cache
def refusal(backend: str) -> str:
    """Why nothing may be tried here: some attacks would kill this very process, were there no walls."""
    found = probe(backend)
    return "" if found.is_sufficient else found.refusal or "the probe found it insufficient"


@pytest.mark.parametrize("family", FAMILIES)
def test_an_attack_gains_nothing(family: str, subtests: pytest.Subtests) -> None:
    assert not refusal(BEST), f"{BEST} does not isolate here: {refusal(BEST)}"

    for attack in attacks_of(family):
        with subtests.test(attack.name), fresh_host() as host:
            assert_it_gains_nothing(attack, BEST, host)


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", OTHERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_attack_gains_nothing_in_another_sandbox(family: str, backend: str, subtests: pytest.Subtests) -> None:
    """Landlock and seccomp alone hide what a file holds, though not that it is there."""
    if refusal(backend):
        pytest.skip(f"the other sandboxes have to do here: {refusal(backend)}")

    for attack in attacks_of(family):
        if backend == "landlock" and (not attack.name.startswith(ON_WALLS) or attack.name == "files_exists"):
            continue
        with subtests.test(attack.name), fresh_host() as host:
            assert_it_gains_nothing(attack, backend, host)


def attacks_of(family: str) -> list[Attack]:
    return [attack for attack in ATTACKS if attack.name.partition("_")[0] == family]


def assert_it_gains_nothing(attack: Attack, backend: str, host: Host) -> None:
    execution = attacked(attack, backend, host)

    assert [result.name for result in execution.results] == ["before", "attacked", "after"]
    assert unexpected(execution, attack) == []
    assert_record_is_clean(execution, host)
    assert host.harm() == []
    host.wait_for_the_last()


def attacked(attack: Attack, backend: str, host: Host) -> Execution:
    """Its tests run; with more time where a busy machine was too slow for those that hang in nothing."""
    tests = the_tests(attack, host)
    for pace in PACES:
        seconds, total = attack.limits.seconds * pace, attack.limits.total_seconds * pace
        limits = replace(attack.limits, seconds=seconds, total_seconds=total)
        execution = run(attack.code, tests, limits, backend=backend)
        if not any("timeout" in complaint for complaint in unexpected(execution, attack)):
            break
    assert tests == the_tests(attack, host), "the program has changed what its parent holds"
    return execution


def the_tests(attack: Attack, host: Host) -> list[Test]:
    answer = host.answer if attack.is_cheat else "kcatta"
    expected = {"before": ("one", "eno"), "attacked": ("attack", answer), "after": ("two", "owt")}
    return [Test(name, [word, host.told()], right) for name, (word, right) in expected.items()]


def unexpected(execution: Execution, attack: Attack) -> list[str]:
    """The results that are not as they must be, in words."""
    return [
        f"{result.name}: {result.verdict} {result.value!r:.200} {result.error}"
        for result in execution.results
        if result.verdict not in (attack.attacked if result.name == "attacked" else attack.others)
    ]


def assert_record_is_clean(execution: Execution, host: Host) -> None:
    """It can be stored and read again, is short, and holds no secret."""
    record = json.dumps(execution.as_json(), ensure_ascii=False, allow_nan=False)
    assert Execution.from_json(json.loads(record.encode())) == execution
    assert host.secret not in record
    assert host.answer not in record
    for result in execution.results:
        assert (len(result.error) <= 500, len(result.stdout) <= 4096, len(result.stderr) <= 4096) == (True,) * 3
        assert "\0" not in result.error + result.stdout + result.stderr, "PostgreSQL cannot store it"
    ran = [result for result in execution.results if result.verdict != "not_run"]
    assert bool(ran) != bool(execution.complaint), "a complaint says that nothing could be run, and only that"


@each_case("attack", REAL, ids=str)
def test_an_attack_is_real(attack: Attack) -> None:
    """Where there are no walls it does harm, so that its failure inside says something of the walls."""
    with fresh_host() as host, tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-I", "-S", "-c", WITHOUT_WALLS, json.dumps(["attack", host.told()]), attack.code]
        code = subprocess.run(command, stdout=output, env={"CANARY": host.secret}, timeout=60).returncode
        output.seek(0)
        answer = json.loads(output.read().splitlines()[-1]) if code == 0 else "crashed"
        assert answer != "kcatta" or host.harm()


def test_every_program_is_in_the_list() -> None:
    written = {path.stem for path in FOLDER.glob("*.py")}

    assert sorted(attack.name for attack in ATTACKS) == sorted(written | RUNNABLE.keys() | UNRUNNABLE.keys())


def test_no_cheat_may_pass() -> None:
    assert [attack.name for attack in ATTACKS if attack.is_cheat and "passed" in attack.attacked] == []
