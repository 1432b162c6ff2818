"""Outputs that are added later: checked, counted, and never put in place of others."""

import pytest

from experiments.casting import InvalidExperiment
from experiments.datasets import making
from experiments.datasets.process import Refused
from experiments.models import Contestant, Output
from experiments.refusals import NotAllowed
from tests.cases import each_case
from tests.experiments.datasets.files import lines, packed, png, table

pytestmark = [pytest.mark.system, pytest.mark.django_db]


@pytest.fixture
def questions(load_text):
    return load_text("a.csv", table([{"index": number, "prompt": f"question {number}"} for number in range(3)]))


@pytest.fixture
def scenes(load_text):
    text = table([{"index": number, "prompt": "draw"} for number in range(2)])
    return load_text("s.csv", text, modality="image")


@pytest.fixture
def add(alice, tmp_path):
    """Adds outputs of a text."""

    def make(dataset, name, text, by=alice, **fields):
        (tmp_path / name).write_text(text)
        return making.add_outputs(dataset, by=by, path=tmp_path / name, **fields)

    return make


@pytest.mark.databases
def test_a_table_of_outputs_is_added(questions, add):
    rows = [{"index": n, "contestant": who, "text": f"{who} {n}"} for n in range(3) for who in ("a", "A")]

    added = add(questions, "o.csv", table([*rows[:-1], {"index": 99, "contestant": "a", "text": "of no sample"}]))

    assert (added.new, added.unknown) == ({"a": 3, "A": 2}, 1)
    assert {"code": "missing", "contestant": "A", "found": 2, "wanted": 3} in added.warnings
    assert Output.objects.filter(sample__dataset=questions).count() == 5


def test_pictures_belong_to_the_contestants_of_their_folders_or_who_is_named(scenes, questions, add, alice, tmp_path):
    files = {"run_20260101/a/0.png": png("red"), "run_20260101/a/1.png": png("blue"), "run_20260101/b/0.png": png()}
    bare = packed(tmp_path / "bare.zip", {"0.png": png(), "1.png": png("blue")})

    added = making.add_outputs(scenes, by=alice, path=packed(tmp_path / "o.zip", files))

    assert added.new == {"a": 2, "b": 1}
    assert {one.version for one in scenes.contestants.all()} == {"run_20260101"}
    assert scenes.pictures.count() == 2
    with pytest.raises(Refused, match="No outputs were found in it"):
        making.add_outputs(scenes, by=alice, path=bare)
    assert making.add_outputs(scenes, by=alice, path=bare, contestant="me").new == {"me": 2}
    with pytest.raises(Refused, match="the outputs of this dataset are pictures"):
        add(scenes, "o.csv", table([{"index": 0, "text": "x"}]), contestant="other")
    with pytest.raises(Refused, match="the outputs of this dataset are texts"):
        making.add_outputs(questions, by=alice, path=tmp_path / "o.zip")


def test_only_owners_curators_and_admins_add_under_a_version_with_a_real_day(questions, add, charlie):
    text = table([{"index": 0, "text": "x"}])
    with pytest.raises(NotAllowed):
        add(questions, "o.csv", text, by=charlie, contestant="me")
    charlie.role = "curator"
    with pytest.raises(InvalidExperiment, match="A version is"):
        add(questions, "o.csv", text, by=charlie, contestant="me", version="solar_20260230")

    added = add(questions, "o.csv", text, by=charlie, contestant="me", version="solar_20260228")

    assert added.new == {"me": 1}
    assert Contestant.objects.get().version == "solar_20260228"


@pytest.mark.system
def test_outputs_that_are_there_are_kept_and_counted(questions, add):
    add(questions, "o.jsonl", lines([{"index": 0, "model": "a", "response": "first"}]))

    added = add(questions, "o.jsonl", lines([{"index": n, "model": "a", "response": "second"} for n in (0, 1)]))

    assert (added.new, added.kept) == ({"a": 1}, 1)
    assert {"code": "kept", "times": 1} in added.warnings
    assert sorted(Output.objects.values_list("sample__index", "text")) == [(0, "first"), (1, "second")]


@each_case(
    ("text", "said"),
    [
        ("index,contestant,text\n0,a,x\n0,a,y\n", "o.csv, row 2: a has a second output for number 0."),
        ("index,contestant,text\n7,a,x\n", "None of the outputs belongs to a sample of this dataset"),
        ("contestant,text\na,x\n", "No column holds the number of the sample"),
        ("index,text\n0,x\n", "No column names the contestant, and none was named"),
        ("index,contestant\n0,x\n", "No column holds the outputs"),
        ("index,contestant,text\n0,,x\n", "o.csv, row 1: The name of the contestant is missing."),
        ("index,contestant,text,subset\n0,a,x,no\n", "The dataset has no subset called “no”."),
    ],
)
@pytest.mark.system
def test_what_is_wrong_is_said_and_nothing_is_stored(questions, add, text, said):
    with pytest.raises(Refused) as refused:
        add(questions, "o.csv", text)

    assert said in str(refused.value)
    assert not Contestant.objects.exists()


@pytest.mark.system
def test_a_number_in_several_subsets_needs_its_subset(load_text, add):
    rows = [{"index": 0, "prompt": "q", "subset": subset} for subset in ("x", "y")]
    dataset = load_text("a.csv", table(rows))
    with pytest.raises(Refused, match="The number 0 is in several subsets"):
        add(dataset, "o.csv", table([{"index": 0, "text": "t"}]), contestant="me")

    added = add(dataset, "o.csv", table([{"index": 0, "text": "t", "subset": "y"}]), contestant="me")

    assert added.new == {"me": 1}
    assert Output.objects.get().sample.subset == "y"
