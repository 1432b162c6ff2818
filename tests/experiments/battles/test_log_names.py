"""Names of contestants as names of files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.battles.logs.exporting import slim_lines
from experiments.battles.logs.names import file_names, pair_file, sanitised
from experiments.battles.logs.packing import zipped
from tests.experiments.battles.logs_of_others import slim, write
from tests.experiments.battles.test_exporting import read, unpacked

ALIKE = ["org/m_1", "org_m:1", "org__m_1", "ORG_m_1"]


def test_a_plain_name_is_left_as_it_is():
    assert file_names(["flux_1", "sdxl"]) == {"flux_1": "flux_1", "sdxl": "sdxl"}
    assert sanitised("org/model: a?") == "org_model_ a"


def test_names_that_come_out_alike_have_files_of_their_own():
    found = file_names(ALIKE)

    assert len({name.casefold() for name in found.values()}) == 4
    assert not any(set(name) & set('/\\:*?"<>|') for name in found.values())


@pytest.mark.django_db
def test_battles_of_names_alike_and_of_names_with_the_joint_stay_apart(tmp_path, take):
    pairs = [("org/m_1", "org_m:1"), ("a_vs_b", "c"), ("a", "b_vs_c"), ("org__m_1", "org/m_1")]
    rows = [slim(*sorted(names), 0, sorted(names)[0]) for names in pairs]
    board, _report = take(write(tmp_path / "log.jsonl", rows))

    logs = [name for name in unpacked(zipped(board)) if name.endswith(".jsonl")]
    (tmp_path / "board.zip").write_bytes(b"".join(zipped(board)))
    copy, report = take(tmp_path / "board.zip", called="A copy")

    assert (len(logs), len(set(logs)), report.stored, report.refused) == (4, 4, 4, 0)
    key = lambda row: (row["model_a"], row["model_b"])  # noqa: E731
    assert sorted(read(slim_lines(copy)), key=key) == sorted(read(slim_lines(board)), key=key) == sorted(rows, key=key)


@given(st.lists(st.text(min_size=1, max_size=120), unique=True, min_size=2, max_size=6))
def test_any_names_give_files_of_their_own_that_file_systems_allow(names):
    files = file_names(names)

    made = {pair_file(a, b, files).casefold() for a in names for b in names if a < b}
    assert len(made) == len(names) * (len(names) - 1) // 2
    assert max(len(name.encode()) for name in made) <= 255
    assert not any("/" in name or "\x00" in name or name.startswith(".") for name in made)
