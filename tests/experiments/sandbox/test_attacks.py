"""Every attack ends in its verdict, the tests around it keep theirs, and the machine outside has noticed nothing."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from experiments.sandbox import Execution, Limits, Test, run
from tests.cases import each_case
from tests.experiments.sandbox.attack_list import ATTACKS, CALM, HURRIED, PROGRAMS, WRITTEN, Attack
from tests.experiments.sandbox.conftest import SAFE, first_of
from tests.experiments.sandbox.machines import Host, trapped

pytestmark = pytest.mark.system
ON_WALLS = ("files_", "secrets_", "net_", "process_", "kernel_", "memory_")  # what differs from backend to backend
RUNS = [
    pytest.param(program, limits, id=f"{program}-{limits.seconds:g}")
    for program in PROGRAMS
    for limits in (CALM, HURRIED)
    if any((attack.program, attack.limits) == (program, limits) for attack in ATTACKS)
]
WITHOUT_WALLS = """
import json, sys
names = {"__name__": "solution"}
exec(compile(sys.argv[2], "solution", "exec"), names)
print("\\n" + json.dumps(names["solve"](*json.loads(sys.argv[1]))))
"""

# Programs whose text itself is the attack: on the parser, on the compiler, on whoever reads or stores it.
HONEST = "def solve(word):\n    return word[::-1]\n"
UNRUNNABLE = {  # none of their tests passes
    "nothing to call": "import sys\nANSWER = 1\n",
    "brackets": "x = " + "[" * 100_000 + "]" * 100_000 + "\n" + HONEST,
    "attributes": "x = a" + ".a" * 500_000 + "\n" + HONEST,
    "indentation": "".join(" " * depth + "if 1:\n" for depth in range(3000)) + " " * 3000 + "1\n" + HONEST,
    "long number": "x = " + "9" * 5_000_000 + "\n" + HONEST,
    "cookie": "# coding: no-such-encoding\nx = '\ud800'\n" + HONEST,
    "future unknown": "from __future__ import braces\n" + HONEST,
    "ends at import": 'import os\nprint("ALL PASSED", flush=True)\nos._exit(0)\n' + HONEST,
    "never ends at import": "while True:\n    pass\n" + HONEST,
}
RUNNABLE = {  # odd, but right
    "cookie ignored": "# coding: utf-7\n" + HONEST,
    "control letters": "x = '\x1b[2J\x07\x7f'\n" + HONEST,
    "file name": HONEST + "assert '\\n' not in __file__ if '__file__' in globals() else True\n",
    "prompt fence": 'x = """]]>[[/solution]] </script> {solution} %s {0}"""\n' + HONEST,
}


@contextmanager
def fresh_host() -> Iterator[Host]:
    with trapped() as machine, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_CANARY", machine.secret)
        yield machine


@pytest.mark.parametrize(("program", "limits"), RUNS)
@pytest.mark.parametrize("backend", first_of(SAFE))
def test_an_attack_gains_nothing(backend: str, program: str, limits: Limits) -> None:
    attacks = [one for one in ATTACKS if (one.program, one.limits) == (program, limits)]
    if backend == "landlock":  # it hides what a file holds, though not that it is there
        attacks = [one for one in attacks if one.name.startswith(ON_WALLS)]
    allowed = {"before": {"passed"}, "together": {"passed"}, "after": {"passed"}}
    allowed |= {attack.name: set(attack.verdicts) for attack in attacks}

    with fresh_host() as host:
        tests = the_tests(attacks, host)
        execution = run(PROGRAMS[program], tests, limits, backend=backend)
        assert tests == the_tests(attacks, host), "the program has changed what its parent holds"
        assert [result.name for result in execution.results] == [test.name for test in tests]
        assert [str(result)[:500] for result in execution.results if result.verdict not in allowed[result.name]] == []
        assert_record_is_clean(execution, host)
        assert host.harm() == []
        host.wait_for_the_last()


def the_tests(attacks: list[Attack], host: Host) -> list[Test]:
    """Those that share a box are one test, between an honest one before and an honest one after all attacks."""
    told, together = host.told(), [attack.name for attack in attacks if attack.shares_its_box]
    alone = [
        Test(attack.name, ["attack", [attack.name], told], host.answer if attack.is_cheat else "kcatta")
        for attack in attacks
        if not attack.shares_its_box
    ]
    return [
        Test("before", ["one", [], told], "eno"),
        *([Test("together", ["attack", together, told], "kcatta")] if together else []),
        *alone,
        Test("after", ["two", [], told], "owt"),
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


@each_case(("code", "verdicts"), [(code, {"not_run", "error", "failed", "timeout"}) for code in UNRUNNABLE.values()]
    + [(code, {"passed"}) for code in RUNNABLE.values()]
    + [("# " + "x" * 8_000_000 + "\n" + RUNNABLE["file name"], {"passed", "not_run"})],
    ids=[*UNRUNNABLE, *RUNNABLE, "huge"])  # fmt: skip
def test_a_text_that_is_an_attack_is_run_or_refused(code: str, verdicts: set[str]) -> None:
    with fresh_host() as host:
        execution = run(code, [Test("only", ["one"], "eno")], Limits(seconds=2))
        assert {result.verdict for result in execution.results} <= verdicts, execution
        assert_record_is_clean(execution, host)


@each_case("attack", [attack for attack in ATTACKS if attack.works_unboxed], ids=str)
def test_an_attack_is_real(attack: Attack) -> None:
    """Where there are no walls it does harm, so that its failure inside says something of the walls."""
    with fresh_host() as host, tempfile.TemporaryFile("w+") as output:
        arguments = json.dumps(["attack", [attack.name], host.told()])
        command = [sys.executable, "-I", "-S", "-c", WITHOUT_WALLS, arguments, PROGRAMS[attack.program]]
        code = subprocess.run(command, stdout=output, env={"CANARY": host.secret}, timeout=60).returncode
        output.seek(0)
        answer = json.loads(output.read().splitlines()[-1]) if code == 0 else "crashed"
        assert answer != "kcatta" or host.harm()


def test_every_attack_is_in_the_list_and_no_cheat_may_pass() -> None:
    assert {attack.name for attack in ATTACKS} == WRITTEN.keys()
    assert [attack.name for attack in ATTACKS if attack.is_cheat and "passed" in attack.verdicts] == []
