"""GenArena's own logs are taken over as they are meant."""

import pytest

from experiments.battles.counting import recount
from experiments.models import Battle, Contestant, PairCount, Verdict
from experiments.refusals import NotAllowed
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import FOLDER, audit, pair, slim, write

pytestmark = pytest.mark.django_db


def counts(board):
    return [
        (row.left_wins, row.right_wins, row.ties, row.consistent, row.inconsistent)
        for row in PairCount.objects.filter(board=board)
    ]


@pytest.mark.databases
def test_a_slim_log_becomes_battles_of_a_new_dataset(tmp_path, take):
    pair(tmp_path, [slim("flux", "sdxl", 4, "sdxl"), slim("flux", "sdxl", 7, "tie")])

    board, report = take(tmp_path)

    assert (report.read, report.stored, report.refused, report.contestants, report.samples) == (2, 2, 0, 2, 2)
    first, second = board.battles.order_by("id")
    names = {"left": first.left.name, "right": first.right.name}
    assert (names[first.winner], first.sample.index, first.is_consistent) == ("sdxl", 4, True)
    assert (second.winner, second.judged.isoformat()) == ("tie", "2026-01-28T10:30:00+00:00")
    assert counts(board) == [(0, 1, 1, 2, 0)]
    assert board.dataset.modality == "image"
    assert recount(board) == 2


def test_who_stands_left_does_not_depend_on_the_alphabet(tmp_path, take, uploaded):
    dataset = uploaded(names=("sdxl", "flux"))  # the one that sorts last has the smaller key
    pair(tmp_path, [slim("flux", "sdxl", 0, "flux")])
    pair(tmp_path, [audit("flux", "sdxl", 0, "flux", "A", "B")], folder=f"{FOLDER}/raw_outputs")

    board, report = take(tmp_path, dataset)

    battle = board.battles.get()
    assert (report.stored, report.confirmed, report.duplicates) == (1, 1, 0), "the slim log confirms the audit log"
    assert (battle.left.name, battle.winner) == ("sdxl", "right")
    assert {v.order: v.winner for v in battle.verdicts.all()} == {"original": "right", "swapped": "right"}
    swapped = battle.verdicts.get(order="swapped")  # flux was shown first: GenArena's original call
    assert (swapped.raw, swapped.confidence, swapped.rationale) == ("The winner is A.", 0.75, "A is sharper")
    assert swapped.scores == {"score_a": 8, "score_b": 6}


@each_case(("original", "swapped"), [(None, None), ("A", None), ("", "B")])
def test_what_failed_there_is_open_here_when_the_audit_log_tells_it(original, swapped, tmp_path, take):
    pair(tmp_path, [slim("flux", "sdxl", 0, "tie", consistent=False)])
    pair(tmp_path, [audit("flux", "sdxl", 0, "tie", original, swapped)], folder=f"{FOLDER}/raw_outputs")

    board, report = take(tmp_path)

    battle = board.battles.get()
    assert (battle.winner, battle.is_consistent) == ("", None)
    assert battle.open_reason.startswith("Judged elsewhere, unread: ")
    assert (report.opened, counts(board)) == (1, [])


@pytest.mark.databases
def test_an_audit_log_that_comes_later_opens_what_had_failed(tmp_path, take):
    pair(tmp_path / "slim", [slim("flux", "sdxl", 0, "tie", consistent=False), slim("flux", "sdxl", 1, "flux")])
    told = [audit("flux", "sdxl", 0, "tie", None, None), audit("flux", "sdxl", 1, "flux", "A", "B")]
    pair(tmp_path / "audit", told, folder=f"{FOLDER}/raw_outputs")
    board, first = take(tmp_path / "slim")
    assert counts(board) == [(1, 0, 1, 1, 1)], "a slim log alone cannot tell an outage"
    assert len(first.warnings) == 1

    _board, report = take(tmp_path / "audit", board.dataset)

    assert (report.completed, report.stored, report.opened) == (2, 0, 1)
    assert counts(board) == [(1, 0, 0, 1, 0)]
    again = take(tmp_path / "slim", board.dataset)[1]
    assert (again.completed, counts(board), recount(board)) == (0, [(1, 0, 0, 1, 0)], 1)


def test_a_line_that_stands_twice_counts_once_and_a_contradiction_is_refused(tmp_path, take):
    contradiction = slim("flux", "sdxl", 0, "sdxl")
    pair(tmp_path, [*[slim("flux", "sdxl", 0, "flux")] * 3, contradiction])
    pair(tmp_path, [slim("flux", "sdxl", 0, "flux")], folder="pk_logs/second_20260205")

    board, report = take(tmp_path)

    assert (report.read, report.stored, report.duplicates, counts(board)) == (5, 1, 3, [(1, 0, 0, 1, 0)])
    assert [(r.line, r.reason) for r in report.refusals] == [(4, "It contradicts what was told before; that is kept.")]


@pytest.mark.databases
def test_importing_twice_changes_nothing(tmp_path, take):
    pair(tmp_path, [slim("flux", "sdxl", index, "flux") for index in range(3)])
    pair(tmp_path, [audit("flux", "sdxl", 9, "tie", None, None)], folder=f"{FOLDER}/raw_outputs")
    board, _report = take(tmp_path)
    before = (board.battles.count(), Verdict.objects.count(), Contestant.objects.count(), counts(board))
    changes = board.__class__.objects.get(pk=board.pk).changes

    _board, report = take(tmp_path, board.dataset)

    assert (report.stored, report.completed, report.known, report.refused) == (0, 0, 4, 0)
    assert (board.battles.count(), Verdict.objects.count(), Contestant.objects.count(), counts(board)) == before
    board.refresh_from_db()
    assert board.changes == changes


def test_a_line_that_was_cut_off_loses_nothing_but_itself(tmp_path, take):
    whole = [slim("flux", "sdxl", index, "flux") for index in range(3)]
    path = pair(tmp_path, whole[:1])
    text = path.read_text()
    path.write_text(text + text.replace('"sample_index": 0', '"sample_index": 5')[:60])  # cut off in the middle
    with path.open("a") as file:
        file.write(text.replace('"sample_index": 0', '"sample_index": 1'))  # and the next one glued to it
        file.write(text[:40])
    (tmp_path / FOLDER / "stray.jsonl").mkdir()

    board, report = take(tmp_path)

    assert sorted(board.battles.values_list("sample__index", flat=True)) == [0, 1]
    assert [(r.line, r.reason) for r in report.refusals] == [
        (2, "This is no JSON object."),
        (3, "The last line is cut off."),
    ]


BAD = [
    ("[1, 2]", "no JSON object"),
    ('{"model_a": "x"}', "no battle"),
    (slim("flux", "flux", 0), "stands against itself"),
    (slim("", "sdxl", 0), "model_a is missing"),
    (slim("flux", "x" * 201, 0), "longer than 200"),
    (slim("flux", "tie", 0), "cannot be told from a tie"),
    (slim("flux", "sdxl", -1), "sample_index"),
    (slim("flux", "sdxl", True), "sample_index"),
    (slim("flux", "sdxl", 2**40), "sample_index"),
    (slim("flux", "sdxl", 0, "dalle"), "final_winner is “dalle”"),
    (slim("flux", "sdxl", 0, is_consistent="yes"), "is_consistent"),
    (slim("flux", "sdxl", 0, timestamp="yesterday"), "is no time"),
    ("[" * 100_000, "no JSON object"),
    ('{"model_a": NaN}', "no JSON object"),
    ('{"n": ' + "9" * 5000 + "}", "no JSON object"),
]


@each_case(("line", "reason"), BAD)
def test_a_bad_line_is_refused_with_its_number_and_the_others_are_taken(line, reason, tmp_path, take):
    write(tmp_path / "log.jsonl", [slim("flux", "sdxl", 0, "flux"), line, slim("flux", "sdxl", 1, "flux")])

    board, report = take(tmp_path / "log.jsonl")

    assert (board.battles.count(), report.refused) == (2, 1)
    assert report.refusals[0].line == 2
    assert reason in report.refusals[0].reason


def test_the_report_holds_a_hundred_refusals_and_counts_them_all(tmp_path, take):
    _board, report = take(write(tmp_path / "log.jsonl", ["nonsense"] * 300))

    assert (report.refused, len(report.refusals)) == (300, 100)


def test_contestants_joined_with_the_experiment_that_first_tells_of_them(tmp_path, take):
    pair(tmp_path, [slim("flux", "dalle", 0, "flux")], folder="pk_logs/GenArena_20260301", name="dalle_vs_flux")
    pair(tmp_path, [slim("flux", "sdxl", 0, "flux")], folder="pk_logs/zzz_20260105")

    board, _report = take(tmp_path)

    joined = dict(board.dataset.contestants.values_list("name", "version"))
    assert joined == {"flux": "zzz_20260105", "sdxl": "zzz_20260105", "dalle": "GenArena_20260301"}


def test_snapshots_are_told_in_the_report_and_rate_nobody(tmp_path, take):
    pair(tmp_path, [slim("flux", "sdxl", 0, "flux")], folder="pk_logs/GenArena_20260301")
    told = '{"elo": {"flux": 1010.5, "sdxl": 989.5}, "ci_lower": {"flux": 1000}, "battle_count": 9}'
    (tmp_path / "pk_logs/GenArena_20260301/elo_snapshot.json").write_text(told)

    _board, report = take(tmp_path)

    [snapshot] = report.snapshots
    assert (snapshot["name"], snapshot["is_milestone"], snapshot["battles"]) == ("GenArena_20260301", True, 9)
    assert dict(zip(snapshot["contestants"], snapshot["ratings"], strict=True)) == {"flux": 1010.5, "sdxl": 989.5}
    assert snapshot["lower"] == [1000, None]


def test_an_existing_dataset_gets_no_samples_from_a_log(tmp_path, take, uploaded):
    pair(tmp_path, [slim("flux", "sdxl", 2, "flux"), slim("flux", "sdxl", 3, "flux")])

    board, report = take(tmp_path, uploaded(samples=3))

    assert (board.battles.count(), report.contestants) == (1, 2)
    assert "no sample 3" in report.refusals[0].reason


def test_only_the_owner_and_admins_may_import(tmp_path, take, uploaded, charlie, django_user_model):
    pair(tmp_path, [slim("flux", "sdxl", 2, "flux")])
    dataset = uploaded(visibility="lab")
    admin = django_user_model.objects.create_user("root", role="admin")

    with pytest.raises(NotAllowed):
        take(tmp_path, dataset, by=charlie)

    assert take(tmp_path, dataset, by=admin)[1].stored == 1
    assert Battle.objects.count() == 1
