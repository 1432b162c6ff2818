"""A board as an arena folder: taken out, and read into an empty dataset with everything that it holds."""

import hashlib
import json
import zipfile

import pytest
from django.core.management import call_command

from experiments.library.datasets import making
from experiments.models import Battle, Dataset, DatasetImage, Image, Output
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.logs.importing import import_battles
from experiments.workflows.battles.campaign.logs.packing import zipped
from leaderboard.boards import compute, milestones
from leaderboard.models import Ladder
from tests.cases import each_case
from tests.experiments.datasets.files import png
from tests.leaderboard import boards

pytestmark = [pytest.mark.system, pytest.mark.django_db]
NAMES = ("lab/oak", "lab:oak", "elm", "ash", "fir")
SPRING, SUMMER = "GenArena_20260301", "summer_20260701"


@pytest.fixture(autouse=True)
def places(settings, tmp_path):
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path / "images", tmp_path / "uploads"


def kept_picture(dataset, data):
    about = {"mime": "image/png", "width": 8, "height": 6, "size": len(data)}
    found, is_new = Image.objects.get_or_create(sha256=hashlib.sha256(data).hexdigest(), defaults=about)
    if is_new:
        found.path.parent.mkdir(parents=True, exist_ok=True)
        found.path.write_bytes(data)
        DatasetImage.objects.create(dataset=dataset, image=found)
    return found


def league(owner, modality):
    """Five contestants of two experiments with outputs for two subsets, a battle that is void, one that is open, and a
    contestant that is left out.
    """
    board = boards.filled(owner, contestants=5, battles=600, subsets=("easy", "hard/test"), modality=modality)
    for name, one in zip(NAMES, board.dataset.contestants.order_by("pk"), strict=True):
        one.name, one.version = name, SUMMER if name == "ash" else SPRING
        one.void_reason = "It was trained on the samples." if name == "fir" else ""
        one.save()
        for sample in board.dataset.samples.all()[:30]:
            said = f"{name} on {sample}"
            color = (int(hashlib.sha256(said.encode()).hexdigest()[:4], 16) % 256, sample.index, 7)
            made = {"text": said} if modality == "text" else {"image": kept_picture(board.dataset, png(color))}
            Output.objects.create(sample=sample, contestant=one, **made)
    board.battles.update(is_consistent=None)
    first, second, third = board.battles.order_by("pk")[:3]
    Battle.objects.filter(pk=first.pk).update(void_reason="broken")
    Battle.objects.filter(pk=second.pk).update(winner="", open_reason="The judge gave no answer.")
    Battle.objects.filter(pk=third.pk).update(winner="both_bad")
    recount(board)
    ladder = compute.ensure_ladder(board)
    milestones.take(ladder, name="spring_20260401", by=owner, note="The first.")
    return ladder


def outputs(dataset):
    rows = Output.objects.filter(sample__dataset=dataset, contestant__void_reason="").values_list(
        *("contestant__name", "contestant__version", "sample__subset", "sample__index", "text", "image_id")
    )
    return sorted(rows, key=str)


def rated(ladder):
    told = ("rank", "rating", "lower", "upper", "wins", "losses", "ties", "both_bad")
    return {(row.name, name): getattr(row, name) for row in compute.standings(ladder).rows for name in told}


@each_case("modality", ["text", "image"])
def test_a_board_comes_back_from_its_folder_and_outputs_alone_to_those_who_lack_them(alice, tmp_path, modality):
    ladder, path = league(alice, modality), tmp_path / f"{modality}.zip"
    path.write_bytes(b"".join(zipped(ladder.board)))
    before = outputs(ladder.board.dataset)

    call_command("load_dataset", path, name="A copy", slug="copy", owner="alice", modality=modality)
    copy = Dataset.objects.get(slug="copy")
    report = import_battles(path, dataset=copy, by=alice)

    again = Ladder.objects.get(board__dataset=copy)
    assert outputs(copy) == before
    samples = [one.samples.values_list("subset", "index", "instruction") for one in (copy, ladder.board.dataset)]
    assert list(samples[0]) == list(samples[1])
    assert rated(again) == pytest.approx(rated(ladder), rel=1e-9)
    assert (again.board.kind, again.board.judge) == (ladder.board.kind, ladder.board.judge)
    assert (report.void, report.refused, report.warnings) == (241, 0, [])
    assert again.board.battles.get(winner="").open_reason == "The judge gave no answer."
    taken, took_over = (one.milestones.get() for one in (ladder, again))
    told = ("name", "taken", "battles", "contestants", "ratings", "covariance", "version", "dated")
    assert [getattr(took_over, name) for name in told] == [getattr(taken, name) for name in told]
    assert took_over.note == "The first. Taken over from a folder."

    zipfile.ZipFile(path).extractall(tmp_path / modality)
    Output.objects.filter(sample__dataset=ladder.board.dataset, sample__subset="easy").delete()
    added = making.add_outputs(ladder.board.dataset, by=alice, path=tmp_path / modality / "easy" / "models")
    assert (outputs(ladder.board.dataset), added.kept, added.unknown) == (before, 0, 0)

    with zipfile.ZipFile(path) as archive:
        names, card = archive.namelist(), archive.read("README.md").decode()
        config = json.loads(archive.read(f"easy/pk_logs/{SPRING}/config.json"))
    assert {"data/samples.jsonl", "arena/battles.jsonl", "arena/milestones.json", "easy/arena/state.json"} <= set(names)
    assert f"easy/models/{SUMMER}/ash.jsonl" in names
    assert (f"easy/models/{SUMMER}/ash/000000.png" in names) == (modality == "image")
    alike = [name for name in names if name.startswith(f"easy/models/{SPRING}/lab_oak~")]
    assert len([name for name in alike if name.endswith(".jsonl")]) == 2
    assert not any("/fir" in name for name in names)
    assert "4 models, 3" in card
    assert "| elm |" in card
    assert config["contestants"] == ["elm", "lab/oak", "lab:oak"]
