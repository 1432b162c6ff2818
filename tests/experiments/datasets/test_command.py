"""`manage.py load_dataset`, and the datasets of the demonstration."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.datasets import demonstration
from experiments.models import Dataset, Image, Output
from tests.cases import each_case
from tests.experiments.datasets.files import table

pytestmark = pytest.mark.django_db


def load(*words, **options):
    said = StringIO()
    call_command("load_dataset", *map(str, words), stdout=said, **options)
    return said.getvalue()


@pytest.mark.system
def test_it_prints_what_was_read(alice, tmp_path):
    (tmp_path / "a.csv").write_text(table([{"q": "x", "gpt": "y"}, {"q": "", "gpt": "z"}]))
    (tmp_path / "o.csv").write_text(table([{"index": 1, "contestant": "late", "text": "w"}]))

    said = load(
        tmp_path / "a.csv",
        *("--name", "Mine", "--owner", "alice", "--column", "instruction=q", "--output-column", "GPT=gpt"),
        *("--outputs", tmp_path / "o.csv", "--visibility", "public"),
    )

    assert "Dataset mine: 2 samples, 2 contestants." in said
    assert "Warning: 1 sample has no instruction." in said
    assert "late 1" in said
    assert "Warning: late has outputs for 1 of 2 samples." in said
    assert Dataset.objects.get().visibility == "public"


@each_case(
    ("words", "said"),
    [
        (("missing.csv",), "There is no file or folder"),
        (("a.csv", "--column", "instruction"), "--column is written PART=COLUMN"),
        (("a.csv", "--owner", "nobody"), "There is no active person called nobody"),
        (("a.csv", "--outputs", "missing.csv"), "There is no file or folder"),
        (("a.csv", "--outputs", "other.csv"), "None of the outputs"),
    ],
)
@pytest.mark.system
def test_it_fails_with_the_reason_and_leaves_nothing(alice, tmp_path, monkeypatch, words, said):
    (tmp_path / "a.csv").write_text(table([{"prompt": "x"}]))
    (tmp_path / "other.csv").write_text(table([{"index": 9, "contestant": "late", "text": "w"}]))
    monkeypatch.chdir(tmp_path)
    owner = () if "--owner" in words else ("--owner", "alice")

    with pytest.raises(CommandError) as error:
        load(tmp_path / words[0], *words[1:], *owner)

    assert said in str(error.value)
    assert not Dataset.objects.exists()


def test_the_demonstration_is_made_once_and_is_the_same_everywhere(alice):
    texts, pictures = demonstration.make_text(alice), demonstration.make_images(alice)
    assert demonstration.make_text(alice) == texts
    assert demonstration.make_images(alice) == pictures

    for dataset in (texts, pictures):
        assert (dataset.samples.count(), dataset.contestants.count(), dataset.is_ready) == (12, 4, True)
        assert Output.objects.filter(sample__dataset=dataset).count() == 48
    shas = {image.pk for image in Image.objects.all()}
    for image in Image.objects.all():
        assert image.path.exists()
    Dataset.objects.all().delete()
    demonstration.make_images(alice)
    assert {image.pk for image in Image.objects.all()} == shas
