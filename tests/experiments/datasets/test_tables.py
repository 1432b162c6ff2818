"""Tables of every kind become samples; outputs that are added later are checked, counted, and replace no others."""

import json

import pytest

from accounts.errors import Forbidden, Invalid
from experiments.library.datasets import making
from experiments.library.datasets.process import Refused
from experiments.models import Contestant, Dataset, Image, Output
from tests.experiments.datasets.files import lines, packed, parquet, png, table
from tests.making import maker

ROWS = [
    {"index": 3, "instruction": "Why is the sky blue?", "task_type": "science", "prompt_source": "me", "level": "easy"},
    {"index": 7, "instruction": "Name, then count:\na, b", "task_type": "words", "prompt_source": "", "level": "hard"},
]


def test_each_kind_of_table_gives_the_same_samples(load_text):
    for name, text in {
        "rows.csv": table(ROWS),
        "bom.csv": "\ufeff" + table(ROWS),
        "rows.jsonl": lines(ROWS),
        "rows.json": json.dumps(ROWS),
        "bom.json": "\ufeff" + json.dumps(ROWS, indent=1),
        "one_by_one.json": " ".join(map(json.dumps, ROWS)),
        "rows [1].csv": table(ROWS),
        "rows.ndjson": lines(ROWS) + "\n\n",
    }.items():
        dataset = load_text(name, text)

        fields = ("subset", "index", "category", "instruction", "source", "metadata")
        assert list(dataset.samples.values_list(*fields)) == [
            ("", 3, "science", "Why is the sky blue?", "me", {"level": "easy"}),
            ("", 7, "words", "Name, then count:\na, b", "", {"level": "hard"}),
        ], name
        assert (dataset.state, dataset.source, dataset.progress) == ("ready", name, 1)
        assert dataset.columns["instruction"] == "instruction", name


def test_parquet_with_pictures_as_bytes_structs_and_lists(load, tmp_path):
    red, blue = png("red"), png("blue")
    rows = [
        {"index": 0, "prompt": "one", "input_images": [{"bytes": red, "path": "a.png"}]},
        {"index": 1, "prompt": "two", "input_images": [{"bytes": red, "path": None}, {"bytes": blue, "path": None}]},
        {"index": 2, "prompt": "none", "input_images": []},
    ]
    path = parquet(tmp_path / "data.parquet", rows, index="BIGINT", input_images='STRUCT("bytes" BLOB, path VARCHAR)[]')

    dataset = load(path)

    shas = [len(images) for images in dataset.samples.values_list("images", flat=True)]
    assert shas == [1, 2, 0]
    assert Image.objects.count() == 2  # the same picture is kept once
    image = Image.objects.get(pk=dataset.samples.first().images[0])
    assert image.path.read_bytes() == red
    assert (image.mime, image.width, image.height, image.size) == ("image/png", 8, 6, len(red))
    assert dataset.pictures.count() == 2


def test_shards_of_a_folder_are_read_in_the_order_of_their_numbers(load, tmp_path):
    for names in (("shard_2", "shard_10"), ("data-00000-of-00002", "data-00001-of-00002")):
        for name in (*names, "other"):
            parquet(tmp_path / names[0] / f"{name}.parquet", [{"instruction": name}])

        dataset = load(tmp_path / names[0])

        assert list(dataset.samples.values_list("index", "instruction")) == list(enumerate(names))
        assert dataset.warnings == [{"code": "ignored_tables", "times": 1}]


def test_columns_are_mapped_as_somebody_says_or_by_their_names_and_odd_characters_kept_out(load_text):
    text = table([{"q": "What?", "text": "a label", "gpt": "This.", "claude": "That."}])

    dataset = load_text("a.csv", text, columns={"instruction": "q", "outputs": {"GPT": "gpt", "Claude": "claude"}})
    named = load_text("b.csv", table([{"prompt": "Q", "output_A": "x", "output_a": "y", "response_b": ""}]))

    outputs = dataset.samples.get().outputs.values_list("contestant__name", "text")
    assert sorted(outputs) == [("Claude", "That."), ("GPT", "This.")]
    assert dataset.samples.get().metadata == {"text": "a label"}
    assert {one.version for one in dataset.contestants.all()} == {f"{dataset.slug}_{dataset.created:%Y%m%d}"}
    assert sorted(named.contestants.values_list("name", flat=True)) == ["A", "a"]  # case matters; nothing is nobody

    sample = load_text("a.jsonl", '{"prompt": "a\\u0000b\\ud800c", "n": NaN, "m": {"x": 1}}\n').samples.get()

    assert (sample.instruction, sample.metadata) == ("a\ufffdb\ufffdc", {"n": None})


def test_pictures_are_found_by_their_paths_in_a_zip(load, tmp_path):
    files = {
        "set/data.csv": table([{"prompt": "one", "image": "pics/1.png"}, {"prompt": "two", "image": "./pics/2.png"}]),
        "set/pics/1.png": png("red"),
        "set/pics/2.png": png("green"),
        "set/models/mine/0.png": png("blue"),
        "__MACOSX/set/._data.csv": b"junk",
        "set/.DS_Store": b"junk",
    }

    dataset = load(packed(tmp_path / "set.zip", files), modality="image")

    assert [len(images) for images in dataset.samples.values_list("images", flat=True)] == [1, 1]
    assert list(dataset.contestants.values_list("name", flat=True)) == ["mine"]  # not the folder of the samples' own
    assert dataset.samples.first().outputs.get().image.path.read_bytes() == png("blue")


def test_what_is_wrong_with_a_table_is_said_with_its_place_and_nothing_is_stored(load_text):
    for name, text, said in (
        ("a.csv", "index,prompt\n1,a\n1,b\n", "a.csv, row 2: The number 1 appears twice"),
        ("a.csv", "index,prompt\n1,a\nx,b\n", "a.csv, row 2: The column index should hold a number, but holds “x”."),
        ("a.csv", "index,prompt\n1,a,b\n", "a.csv, row 1: A line has 3 fields, the first line has 2"),
        ("a.csv", 'prompt\n"open\n', "a.csv, row 2: The line cannot be read"),
        ("a.csv", b"prompt\n\xff\xfe\n", "a.csv, row 2: The text is not UTF-8"),
        ("a.csv", "", "a.csv: The table is empty."),
        ("a.csv", "prompt\n", "There is nothing to compare in it"),
        ("a.csv", "x,y\n1,2\n", "a.csv: No column has the instruction. Choose one of x, y"),
        ("a.csv", "prompt,prompt\n1,2\n", "a.csv: Two columns are named prompt."),
        ("a.jsonl", '{"prompt": "a"}\n{oops\n', "a.jsonl, row 2: This is not valid JSON."),
        ("a.jsonl", "[" * 100_000, "a.jsonl, row 1: It is nested too deeply"),
        ("a.jsonl", '{"prompt": "a", "m": {"x": 1, "x": 2}}\n', "row 1: The field x appears twice in one object."),
        ("a.json", '[{"prompt": "a"}, {"prompt"', "a.json, row 2: This is not valid JSON."),
        ("a.json", '[{"prompt": "a"}', "a.json is cut off."),
        ("a.json", "[1, 2]", "a.json, row 1: A JSON object with named fields is expected."),
        ("a.json", '[{"prompt": "a"}]'.encode("utf-16"), "a.json: The text is not UTF-8"),
        ("a.csv", "prompt\ra\rb\r", "a.csv, row 1: Its line endings are unusual"),
        ("a.csv", ",".join(f"c{n}" for n in range(3000)) + "\n", "a.csv: It has more than 2000 columns."),
        ("a.csv", "prompt,subset\na,x\x07y\n", "is not a valid subset name"),
        ("a.csv", "prompt\n" + "x" * 200_001 + "\n", "holds more than 200000 characters"),
        ("a.parquet", b"PAR1 no parquet at all PAR1", "a.parquet: The table cannot be read"),
        ("a.tar", b"x", "a.tar is not a zip archive. Pack the files as zip."),
        ("a.exe", b"MZ", "There is nothing to compare in it"),
        ("a.csv", "prompt,image\na,http://x.org/1.png\n", "The picture http://x.org/1.png is an address."),
        ("a.jsonl", '{"prompt": "a", "image": "data:image/png;base64,iVBORw0KGgo="}\n', "a.jsonl, row 1: "),
        ("a.csv", "prompt,image\na,1.png\n", "There is no picture 1.png in the upload"),
        ("a.csv", "prompt,image\na,../../etc/passwd\n", "The path ../../etc/passwd leads out of the upload."),
        ("a.csv", "prompt,category\na," + "x" * 101 + "\n", "holds more than 100 characters"),
    ):
        with pytest.raises(Refused) as refused:
            load_text(name, text)
        assert said in str(refused.value)
        assert not Dataset.objects.exists(), said


@pytest.fixture
def questions(load_text):
    return load_text("a.csv", table([{"index": number, "prompt": f"question {number}"} for number in range(3)]))


@maker
def add(alice, tmp_path, /, dataset, name, text, by=None, **fields):
    (tmp_path / name).write_text(text)
    return making.add_outputs(dataset, by=by or alice, path=tmp_path / name, **fields)


@pytest.mark.databases
def test_a_table_of_outputs_is_added_and_what_is_there_is_kept(questions, add):
    rows = [{"index": n, "contestant": who, "text": f"{who} {n}"} for n in range(3) for who in ("a", "A")]

    added = add(questions, "o.csv", table([*rows[:-1], {"index": 99, "contestant": "a", "text": "of no sample"}]))
    later = add(questions, "o.jsonl", lines([{"index": n, "model": "A", "response": "second"} for n in (1, 2)]))

    assert (added.new, added.unknown) == ({"a": 3, "A": 2}, 1)
    assert {"code": "missing", "contestant": "A", "found": 2, "wanted": 3} in added.warnings
    assert {"code": "unknown_numbers", "times": 1} in added.warnings
    assert (later.new, later.kept) == ({"A": 1}, 1)
    assert {"code": "kept", "times": 1} in later.warnings
    outputs = Output.objects.filter(sample__dataset=questions, contestant__name="A").order_by("sample__index")
    assert list(outputs.values_list("text", flat=True)) == ["A 0", "A 1", "second"]


def test_pictures_belong_to_contestants_by_their_folders_or_by_name(load_text, questions, add, alice, tmp_path):
    scenes = load_text("s.csv", table([{"index": number, "prompt": "draw"} for number in (0, 1)]), modality="image")
    files = {"run_20260101/a/0.png": png("red"), "run_20260101/a/1.png": png("blue"), "run_20260101/b/0.png": png()}
    bare = packed(tmp_path / "bare.zip", {"0.png": png(), "1.png": png("blue")})

    added = making.add_outputs(scenes, by=alice, path=packed(tmp_path / "o.zip", files))

    assert added.new == {"a": 2, "b": 1}
    assert {one.version for one in scenes.contestants.all()} == {"run_20260101"}
    assert scenes.pictures.count() == 2
    with pytest.raises(Refused, match="There are no outputs in it"):
        making.add_outputs(scenes, by=alice, path=bare)
    assert making.add_outputs(scenes, by=alice, path=bare, contestant="me").new == {"me": 2}
    with pytest.raises(Refused, match="the outputs of this dataset are pictures"):
        add(scenes, "o.csv", table([{"index": 0, "text": "x"}]), contestant="other")
    with pytest.raises(Refused, match="the outputs of this dataset are texts"):
        making.add_outputs(questions, by=alice, path=tmp_path / "o.zip")


def test_only_owners_curators_and_admins_add_under_a_version_with_a_real_day(questions, add, charlie):
    text = table([{"index": 0, "text": "x"}])
    with pytest.raises(Forbidden):
        add(questions, "o.csv", text, by=charlie, contestant="me")
    charlie.role = "curator"
    with pytest.raises(Invalid, match="A version is"):
        add(questions, "o.csv", text, by=charlie, contestant="me", version="solar_20260230")

    added = add(questions, "o.csv", text, by=charlie, contestant="me", version="solar_20260228")

    assert added.new == {"me": 1}
    assert Contestant.objects.get().version == "solar_20260228"


def test_what_is_wrong_with_outputs_is_said_and_nothing_is_stored(questions, add):
    for text, said in (
        ("index,contestant,text\n0,a,x\n0,a,y\n", "o.csv, row 2: a has a second output for number 0."),
        ("index,contestant,text\n7,a,x\n", "None of the outputs belongs to a sample of this dataset"),
        ("contestant,text\na,x\n", "No column has the sample number"),
        ("index,text\n0,x\n", "No contestant is named"),
        ("index,contestant\n0,x\n", "No column has the outputs"),
        ("index,contestant,text\n0,,x\n", "o.csv, row 1: The name of the contestant is missing."),
        ("index,contestant,text,subset\n0,a,x,no\n", "The dataset has no subset called “no”."),
    ):
        with pytest.raises(Refused) as refused:
            add(questions, "o.csv", text)
        assert said in str(refused.value)
        assert not Contestant.objects.exists(), said


def test_folders_with_tables_become_subsets_and_a_column_or_a_name_says_otherwise(load, load_text, add, tmp_path):
    for subset in ("basic", "hard"):
        parquet(tmp_path / "data_dir" / subset / "data.parquet", [{"index": 0, "instruction": subset}], index="INT")
    text = table([{"prompt": "a", "subset": "x"}, {"prompt": "b", "subset": "y"}])

    by_folder, by_column = load(tmp_path / "data_dir"), load_text("a.csv", text)
    by_name = load_text("a.csv", text, subset="all")

    assert [list(made.samples.values_list("subset", "index")) for made in (by_folder, by_column, by_name)] == [
        [("basic", 0), ("hard", 0)],
        [("x", 0), ("y", 0)],
        [("all", 0), ("all", 1)],
    ]
    with pytest.raises(Refused, match="The number 0 is in several subsets"):
        add(by_folder, "o.csv", table([{"index": 0, "text": "t"}]), contestant="me")
    added = add(by_folder, "o.csv", table([{"index": 0, "text": "t", "subset": "hard"}]), contestant="me")
    assert added.new == {"me": 1}
    assert Output.objects.get().sample.subset == "hard"
