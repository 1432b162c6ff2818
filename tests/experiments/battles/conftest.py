"""Datasets with contestants, and logs taken over into them."""

from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from experiments.models import Board, Contestant, Dataset, Sample
from experiments.workflows.battles.campaign.logs.importing import NothingStored, import_battles, make_dataset
from experiments.workflows.battles.campaign.logs.records import Report
from tests.making import maker


@pytest.fixture(autouse=True)
def files_of_their_own(settings: Any, tmp_path: Path) -> None:
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path / "images", tmp_path / "uploads"


@pytest.fixture
def api(alice: Any) -> APIClient:
    """Alice's."""
    caller = APIClient()
    caller.force_authenticate(alice)
    return caller


@maker
def take(alice: Any, /, path: Path, dataset: Dataset | None = None, **how: Any) -> tuple[Board, Report]:
    """Imports what is sound of logs into a dataset, a new one of Alice's where none is given."""
    into = dataset or make_dataset(owner=alice, name=how.pop("called", "Taken over"))
    try:
        report = import_battles(path, dataset=into, by=how.pop("by", alice), **{"keep_partial": True, **how})
    except NothingStored as refused:
        report = refused.report
    board = Board.objects.filter(slug__in=report.boards).first()
    return board, report


@maker
def uploaded(
    alice: Any, /, samples: int = 3, subsets: tuple[str, ...] = ("",), names: tuple[str, ...] = (), **fields: Any
) -> Dataset:
    """A dataset of Alice's that was not made from logs."""
    kept = {"owner": alice, "name": "Uploaded", "slug": "uploaded", "state": "ready", **fields}
    dataset = Dataset.objects.create(**kept)
    rows = (
        Sample(dataset=dataset, subset=subset, index=index, instruction=f"Task {index}")
        for subset in subsets
        for index in range(samples)
    )
    Sample.objects.bulk_create(rows)
    Contestant.objects.bulk_create(Contestant(dataset=dataset, name=name) for name in names)
    return dataset
