"""What the benchmarks count: scores of pages, disks after a loss of power, killed workers, changed functions."""

import ast
import importlib.util
import json
import subprocess
import sys
from functools import partial
from random import Random

import pytest

from benchmarks import study_kills
from benchmarks.mutants.changes import Source
from benchmarks.mutants.trials import FIRST_KILLER, SURVIVED, exchange, in_fork, live_functions
from benchmarks.pages import CURVES, score
from benchmarks.power.disk import Disk
from experiments.models import Call, StudyRun
from experiments.studies import services
from tests.arenasite.platforms import ROOT, environment
from tests.fixtures import add_model


def test_each_curve_passes_through_its_points_and_falls_and_figures_weigh_as_published() -> None:
    for name, curve in CURVES.items():
        assert curve.score(curve.p10) == pytest.approx(0.9), name
        assert curve.score(curve.median) == pytest.approx(0.5), name
        scores = [curve.score(curve.median * share) for share in (0, 0.25, 0.5, 1, 2, 4)]
        assert scores == sorted(scores, reverse=True), name
        assert (scores[0], scores[-1] > 0) == (1, True), name

    for at, expected in (("p10", 90), ("median", 50)):
        assert score({name: getattr(curve, at) for name, curve in CURVES.items()}) == expected
    perfect = dict.fromkeys(CURVES, 0.0)
    lost = {name: 100 - score(perfect | {name: 1e9}) for name in CURVES}
    assert lost == {"first_paint": 20, "largest_paint": 25, "blocking": 30, "shift": 25}


FILE, FOLDER, BLOCK = 7, 8, b"x" * 1024


class Nothing(Random):
    """Nothing is left that nobody has waited for."""

    def choice(self, of):
        return of[0]


def left(disk, root, rng=None):
    folder = root.parent / f"{root.name}-left"
    disk.leave(folder, rng or Nothing(1))
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_nobody_has_waited_for_is_gone_in_part_or_whole_and_a_renamed_file_is_whole(tmp_path):
    roots = [tmp_path / name for name in "abc"]
    for root in roots:
        root.mkdir()
        (root / "before").write_bytes(b"as it was")
    first, second, third = map(Disk, roots)

    first.note(b"c", FILE, 0, f"{roots[0]}/file\0".encode())
    first.note(b"w", FILE, 0, BLOCK)
    first.note(b"s", FILE, 0, b"")
    assert left(first, roots[0]) == {"before": b"as it was"}  # its content is safe, and its name is not
    first.note(b"d", FOLDER, 0, b"")
    first.note(b"w", FILE, 1024, BLOCK)
    first.note(b"u", 0, 0, f"{roots[0]}/before\0".encode())
    assert left(first, roots[0]) == {"before": b"as it was", "file": BLOCK}

    second.note(b"c", FILE, 0, f"{roots[1]}/file\0".encode())
    second.note(b"d", FOLDER, 0, b"")
    second.note(b"w", FILE, 0, BLOCK)
    contents = {left(second, roots[1], Random(seed))["file"] for seed in range(40)}
    assert contents == {b"", BLOCK[:512], bytes(512) + BLOCK[512:], BLOCK}, "any sector may be left"

    third.note(b"c", FILE, 0, f"{roots[2]}/draft\0".encode())
    third.note(b"w", FILE, 0, b"new")
    third.note(b"s", FILE, 0, b"")
    third.note(b"r", 0, 0, f"{roots[2]}/draft\0{roots[2]}/before\0".encode())
    assert left(third, roots[2]) == {"before": b"as it was"}
    third.note(b"d", FOLDER, 0, b"")
    third.note(b"t", FILE, 1, b"")
    assert left(third, roots[2]) == {"before": b"new"}


@pytest.mark.system
@pytest.mark.exhaustive
@pytest.mark.parametrize(("database", "cuts"), [("sqlite", 50), ("postgresql", 20)])
def test_nothing_that_was_acknowledged_is_missing_after_a_loss_of_power(database, cuts):
    command = [sys.executable, "-m", "benchmarks.power", "--database", database, "--cuts", str(cuts)]
    played = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=1800)

    assert played.returncode == 0, played.stdout + played.stderr
    assert f"power cut {cuts} times; missing afterwards: 0\n" in played.stdout


@pytest.mark.django_db
def test_a_study_that_was_played_once_has_no_difference_and_what_was_repeated_or_lost_is_found(
    provider, alice, drive, tmp_path, capsys
):
    add_model(study_kills.MODEL)
    design = study_kills._design(study_kills.CONDITIONS)
    study = services.create(owner=alice, title="Kills", design=design, plan=study_kills._plan(), at_once=100)
    services.lock(study, by=alice)
    services.start(study, by=alice)
    drive()
    keys = map(str, Call.objects.values_list("pk", flat=True))
    rows = [{"request_id": key, "outcome": "finished", "tokens_sent": 4} for key in keys]

    def looked_at(*more):
        path = tmp_path / "ledger.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, *more]))
        return study_kills.look(path), capsys.readouterr().out

    found, said = looked_at()
    assert found == 0
    assert "20 runs, 20 completed, 2 answers in each\n40 calls: 40 completed" in said

    found, said = looked_at(rows[0])
    assert (found, "calls requested twice: 1" in said) == (1, True)

    Call.objects.filter(pk=rows[1]["request_id"]).update(state=Call.State.LOST)
    planned = StudyRun.objects.first()
    StudyRun.objects.filter(pk=planned.pk).update(run=None)
    found, said = looked_at()
    assert found == 1
    for what in ("planned runs without one run of their own", "runs that are not planned"):
        assert f"{what}: 1" in said
    assert "runs with more or fewer answers: 1" in said


CODE = '''
from functools import wraps

MOST = 3

def logged(function):
    @wraps(function)
    def call(*arguments):
        return function(*arguments)
    return call

@logged
def is_below(first, second):
    """Whether it is."""
    return first < second

def at_least_zero(number: "int" = 0):
    if number > 0:
        return number
    return 0

def pairs(rows: list):
    log.info("Rows that are paired.", len(rows))
    return dict(zip(rows.iterator(chunk_size=10), range(5), strict=True))
'''


@pytest.mark.system
def test_what_a_test_could_notice_is_changed_and_a_fork_tells_whether_it_is_and_leaves_this_process_alone(tmp_path):
    path = tmp_path / "changed.py"
    path.write_text(CODE)
    source, moved = Source(path), Source(tmp_path / "moved.py", "# Moved.\n" + CODE)
    changed = {CODE.splitlines()[line - 1].strip() for line in source.changes}
    assert changed == {
        "return function(*arguments)",
        "return call",
        "return first < second",
        "if number > 0:",
        "return number",
        "return 0",
        "return dict(zip(rows.iterator(chunk_size=10), range(5), strict=True))",
    }
    last = max(source.changes)
    assert {ast.unparse(change.new) for change in source.changes[last]} == {"return None", "6"}, "no size and no strict"

    drawn = sorted(source.drawn(7, "changed.py"))
    assert sorted(moved.drawn(7, "changed.py")) == [(place, line + 1) for place, line in drawn], "by what lines say"
    place, line = drawn[0]
    changes = [one.lines_of(one.change_of(number, place)) for one, number in ((source, line), (moved, line + 1))]
    assert changes[0] == changes[1]

    spec = importlib.util.spec_from_file_location("changed", source.path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    [functions] = live_functions({str(source.path)}).values()

    def trial(text: str) -> int:
        [change] = [one for some in source.changes.values() for one in some if ast.unparse(one.new) == text]
        exchange(functions, source.altered(change))
        noticed = module.is_below(1, 1) or module.at_least_zero(0) != 0
        return FIRST_KILLER if noticed else SURVIVED

    assert in_fork(partial(trial, "first <= second")) == FIRST_KILLER
    assert in_fork(partial(trial, "number >= 0")) == SURVIVED, "it has no effect"
    assert not module.is_below(1, 1)
