"""Datasets with contestants, and logs taken over into them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.models import Board, Contestant, Dataset, Sample
from experiments.workflows.battles.campaign.logs.importing import NothingStored, import_battles, make_dataset
from experiments.workflows.battles.campaign.logs.records import Report


@pytest.fixture(autouse=True)
def pictures_of_their_own(settings: Any, tmp_path: Path) -> None:
    settings.IMAGES_DIR = tmp_path / "images"


@pytest.fixture
def take(alice: Any) -> Callable[..., tuple[Board, Report]]:
    """Imports what is sound of logs into a dataset, a new one of Alice's where none is given."""

    def run(path: Path, dataset: Dataset | None = None, **how: Any) -> tuple[Board, Report]:
        into = dataset or make_dataset(owner=alice, name=how.pop("called", "Taken over"))
        try:
            report = import_battles(path, dataset=into, by=how.pop("by", alice), **{"keep_partial": True, **how})
        except NothingStored as refused:
            report = refused.report
        board = Board.objects.filter(slug__in=report.boards).first()
        return board, report

    return run


@pytest.fixture
def uploaded(alice: Any) -> Callable[..., Dataset]:
    """A dataset of Alice's that was not made from logs."""

    def make(samples: int = 3, subsets: tuple[str, ...] = ("",), names: tuple[str, ...] = (), **fields: Any) -> Dataset:
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

    return make
