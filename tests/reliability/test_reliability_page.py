"""docs/reliability.md speaks of commands, tests, faults and comparisons that exist, and leaves none of them out."""

import re
from pathlib import Path

import pytest

from benchmarks.faults.checks import CHECKS
from benchmarks.faults.kinds import FAULTS, PROVIDER

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`]+)`", PAGE)


def named_tests() -> set[str]:
    """Those that stand without their folder are in that of the one before."""
    found, folder = set(), Path("tests")
    for name in QUOTED:
        if re.fullmatch(r"(tests/)[\w/]+(\.py)?", name):
            folder = Path(name).parent
            found.add(name)
        elif re.fullmatch(r"test_\w+\.py", name):
            found.add(str(folder / name))
    return found


@pytest.mark.parametrize("name", sorted(named_tests()))
def test_a_named_test_is_there(name):
    assert (ROOT / name).exists()


def test_every_kind_of_fault_is_explained():
    assert {*FAULTS, PROVIDER} - set(QUOTED) == set()


def test_every_comparison_of_promises_is_one_of_those_that_are_made():
    table = PAGE.split("## Faults")[0]
    named = {name for name in re.findall(r"`([^`]+)`", table) if " " in name}

    assert named
    assert named - set(CHECKS) == set()
    assert "thirty comparisons" in PAGE
    assert len(CHECKS) == 30


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m (benchmarks\.[\w.]+)", PAGE))))
def test_a_named_command_is_there(module):
    place = ROOT / module.replace(".", "/")

    assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def test_every_target_of_make_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in set(re.findall(r"(?:`|^    )make ([a-z]+)", PAGE, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
