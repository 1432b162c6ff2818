"""Datasets and boards as folders for the Hub: written with a card, and read by theirs and by those of others."""

import hashlib
import io
import json
import zipfile
from datetime import date

import duckdb
import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from experiments.library.datasets import contestants, hub
from experiments.library.datasets.process import Refused
from experiments.models import Battle, Board, Dataset, Output
from experiments.workflows.battles.campaign.logs.importing import import_battles
from experiments.workflows.battles.campaign.logs.packing import FORMATS
from tests.experiments.datasets.files import packed, parquet, png
from tests.leaderboard import boards

ROWS = [
    {"index": 4, "prompt": "Why is the sky blue?", "subset": "science", "language": "English", "level": "easy",
     "output_oak": "Light scatters.", "output_elm": "It is not."},
    {"index": 4, "prompt": "写一首诗\nplease", "subset": "words", "language": "Chinese", "level": "",
     "output_oak": "—", "output_elm": ""},
]  # fmt: skip


def asked(sql):
    with duckdb.connect() as database:
        return database.sql(sql).fetchall()


def content(dataset):
    fields = ("subset", "index", "category", "instruction", "images", "source", "language", "metadata")
    outputs = Output.objects.filter(sample__dataset=dataset)
    made = outputs.values_list("contestant__name", "sample__subset", "sample__index", "text", "image_id")
    return list(dataset.samples.values_list(*fields)), sorted(made)


def card_of(archive):
    return yaml.safe_load(archive.read("README.md").decode().split("---\n")[1])


def texts(load, tmp_path):
    return load(parquet(tmp_path / "rows.parquet", ROWS, index="BIGINT"), description="Two questions.")


def test_pictures_labels_and_the_register_of_contestants_are_read_again_as_they_were(load, tmp_path):
    files = {
        "rows.jsonl": json.dumps({"index": 1, "prompt": "Make it red", "images": ["in/cat.png"]}).encode(),
        "in/cat.png": png("blue"),
        "oak/1.png": png("red"),
        "elm/1.png": png("green"),
    }
    dataset = load(packed(tmp_path / "pictures.zip", files), modality="image")
    oak, elm = dataset.contestants.order_by("-name")
    contestants.describe(oak, by=dataset.owner, label="Oak 2", link="https://oak.example/2")
    facts = {"base_model": "maker/oak", "quantization": "fp8", "upstream": "A provider", "prompt": "Be\nbrief."}
    contestants.enter(elm, by=dataset.owner, variant_of=oak, released=date(2026, 1, 31), **facts)
    path = tmp_path / "hub.zip"
    path.write_bytes(b"".join(hub.dataset_zip(dataset)))

    again = load(path, name="Again", modality="image")

    told = ("name", "label", "link", "variant_of__name", *contestants.REGISTERED[1:])
    assert list(again.contestants.values_list(*told)) == list(dataset.contestants.values_list(*told))
    assert again.contestants.get(name="elm").variant_of.label == "Oak 2"
    assert (content(again), again.warnings) == (content(dataset), [])


def test_a_card_of_contestants_that_are_variants_of_each_other_makes_no_circle(load, tmp_path):
    root = tmp_path / "circle"
    parquet(root / "data" / "samples.parquet", ROWS, index="BIGINT")
    circle = (("oak", "elm"), ("elm", "ash"), ("ash", "oak"))
    names = [{"contestant": one, "variant_of": other} for one, other in circle]
    parquet(root / "data" / "contestants.parquet", names)
    tables = ("samples", "contestants")
    configs = "".join(f"- {{config_name: {name}, data_files: data/{name}.parquet}}\n" for name in tables)
    (root / "README.md").write_text(f"---\nconfigs:\n{configs}---\n# A dataset\n")

    found = dict(load(root).contestants.values_list("name", "variant_of__name"))

    assert found == {"oak": "elm", "elm": "ash", "ash": None}


def test_card_and_croissant_say_which_file_is_which_table_to_those_who_may_see_it(load, tmp_path, alice, bob, client):
    dataset = texts(load, tmp_path)
    addresses = [reverse(name, args=[dataset.slug]) for name in ("dataset-export", "api-dataset-export")]
    client.force_login(bob)
    assert [client.get(address).status_code for address in addresses] == [404, 404]
    client.force_login(alice)
    given = [b"".join(client.get(address).streaming_content) for address in addresses]
    assert given[0] == given[1]

    with zipfile.ZipFile(io.BytesIO(given[0])) as archive:
        assert archive.namelist() == ["README.md", "croissant.json", "data/samples.parquet", "data/outputs.parquet"]
        card, croissant = card_of(archive), json.loads(archive.read("croissant.json"))
        data = {name: archive.read(f"data/{name}") for name in ("samples.parquet", "outputs.parquet")}

    files = [(one["config_name"], one["data_files"][0]["path"]) for one in card["configs"]]
    assert files == [("samples", "data/samples.parquet"), ("outputs", "data/outputs.parquet")]
    assert [one["splits"][0]["num_examples"] for one in card["dataset_info"]] == [2, 3]
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    assert {one["@id"]: one["sha256"] for one in croissant["distribution"]} == hashes
    for table, described in zip(("samples", "outputs"), croissant["recordSet"], strict=True):
        path = tmp_path / f"{table}.parquet"
        path.write_bytes(data[f"{table}.parquet"])
        columns = [row[0] for row in asked(f"DESCRIBE SELECT * FROM '{path}'")]
        assert [field["source"]["extract"]["column"] for field in described["field"]] == columns
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"


def folder_of(tmp_path, front):
    root = tmp_path / "published"
    for name in ("easy/test-00000", "easy/test-00001", "hard/test-00000", "hard/dev"):
        rows = [{"question": f"{name}: {number}", "locale": "en"} for number in range(2)]
        parquet(root / f"{name}.parquet", rows)
    parquet(root / "notes" / "leftover.parquet", [{"question": "not part of it", "locale": "en"}])
    (root / "README.md").write_text(f"---\n{front}---\n# A dataset\n")
    return root


def test_a_card_of_others_says_which_files_are_which_subset(load, tmp_path):
    front = """license: mit
configs:
- config_name: easy
  data_files: "easy/*.parquet"
- config_name: hard
  data_files:
  - {split: test, path: "hard/test-*"}
  - {split: dev, path: [hard/dev.parquet]}
"""
    dataset = load(folder_of(tmp_path, front))

    rows = list(dataset.samples.values_list("subset", "index", "instruction", "language"))
    assert [row[0] for row in rows] == ["easy"] * 4 + ["hard/dev"] * 2 + ["hard/test"] * 2
    assert rows[2] == ("easy", 2, "easy/test-00001: 0", "en")
    without = load(folder_of(tmp_path / "without", "license: mit\n"), name="Without configs")
    assert set(without.samples.values_list("subset", flat=True)) == {"easy", "hard", "notes"}


def test_a_card_that_cannot_be_followed_is_refused_with_what_is_wrong(load, tmp_path):
    tenfold = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)]
    bomb = f"a0: &a0 [{', '.join('x' * 10)}]\n{''.join(tenfold)}configs: [{{config_name: *a11, data_files: '**'}}]\n"
    for name, front, reason in (
        ("broken", "configs: [\n", "YAML in front of README.md cannot be read"),
        ("no files", "configs:\n- {config_name: easy, data_files: 'nowhere/*'}\n", "names files for “easy”"),
        ("more than memory holds", bomb, "YAML in front of README.md cannot be read: aliases"),
        ("too deep", "configs: " + "[" * 50_000 + "\n", "YAML in front of README.md cannot be read"),
    ):
        with pytest.raises(Refused, match=reason):
            load(folder_of(tmp_path / name, front))


def test_a_board_is_exported_with_its_ratings_and_its_battles_are_imported_again(alice, tmp_path):
    board = boards.filled(alice, contestants=4, battles=120, subsets=("easy", "hard"))
    whole, unpacked = tmp_path / "hub.zip", tmp_path / "hub"
    whole.write_bytes(b"".join(FORMATS["hub"].chunks(board, None)))
    with zipfile.ZipFile(whole) as archive:
        card = card_of(archive)
        archive.extractall(unpacked)
    battles, ratings = (asked(f"SELECT * FROM '{unpacked}/data/{name}.parquet'") for name in ("battles", "ratings"))
    assert [one["config_name"] for one in card["configs"]] == ["battles", "ratings"]
    assert len(battles) == 120
    assert [row[0] for row in ratings] == ["model-001", "model-002", "model-003", "model-004"]
    assert ratings[0][2] < ratings[0][1] < ratings[0][3]

    for form, path in {"table": unpacked / "data" / "battles.parquet", "folder": unpacked, "zip": whole}.items():
        copy = boards.dataset_of(alice, f"A copy from a {form}")
        boards.contestants_of(copy, [f"model-{number:03}" for number in range(1, 5)])
        boards.samples_of(copy, 20, ("easy", "hard"))

        assert import_battles(path, dataset=copy, by=alice).refused == 0, form
        assert results(Board.objects.get(dataset=copy)) == results(board), form


def results(board):
    fields = ("sample__subset", "sample__index", "left__name", "right__name", "winner")
    return sorted(Battle.objects.filter(board=board).values_list(*fields))


def test_the_command_writes_a_zip_or_a_folder_that_load_dataset_reads(load, alice, tmp_path):
    dataset = texts(load, tmp_path)
    for place in ("out.zip", "out"):
        call_command("export_dataset", dataset.slug, output=tmp_path / place)
        call_command("load_dataset", tmp_path / place, slug=f"again-{place.replace('.', '-')}", owner="alice")

    copies = Dataset.objects.filter(slug__startswith="again-")
    assert [content(one) for one in copies] == [content(dataset)] * 2
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_dataset", dataset.slug, output=tmp_path / "out")
