"""What the limited process has found is taken over: a whole dataset, or outputs for one that is there."""

from collections.abc import Callable
from typing import NamedTuple

from django.utils import timezone

from experiments.library.datasets.checking import Alive, census, coverage, fit
from experiments.library.datasets.process import Found
from experiments.library.datasets.records import records_in
from experiments.library.datasets.writing import Writer
from experiments.models import Dataset, Sample

READ_SHARE = 0.7  # of the progress; the rest is writing
REMOVED_AT_ONCE = 500
Held = Callable[[float], None]  # told how far it is; raises when somebody else does the work now


class Added(NamedTuple):
    """What outputs have become. new: how many, by contestant. kept: there already. unknown: of no sample."""

    new: dict[str, int]
    kept: int
    unknown: int
    warnings: list[dict[str, object]]


def take_samples(dataset: Dataset, found: Found, held: Held, version: str = "") -> None:
    """Write all of it into a dataset that holds nothing yet. Raises Refused before the first row."""
    records = census(dataset, found.spool, lambda: held(READ_SHARE))
    writer = Writer(dataset, found.spool, _stepping(held, records), version or default_version(dataset))
    writer.write(records_in(found.spool))
    dataset.columns = found.said.get("columns", {})
    dataset.warnings = counted(found.warnings)


def take_outputs(dataset: Dataset, found: Found, held: Held, version: str = "") -> Added:
    """Write those that are not there yet. Raises Refused before the first row."""
    fitting = fit(dataset, found.spool, lambda: held(READ_SHARE))
    step = _stepping(held, sum(fitting.new.values()))
    writer = Writer(dataset, found.spool, step, version or default_version(dataset))
    writer.write(records_in(found.spool))
    told = counted({**found.warnings, "kept": fitting.kept, "unknown_numbers": fitting.unknown})
    return Added(dict(fitting.new), fitting.kept, fitting.unknown, [*told, *coverage(dataset)])


def default_version(dataset: Dataset) -> str:
    """The experiment with which contestants join when nobody names one: the dataset's name and today."""
    return f"{dataset.slug}_{timezone.now():%Y%m%d}"


def empty(dataset: Dataset, alive: Alive) -> None:
    """Take away whatever was written of it. alive: told again and again."""
    while keys := list(dataset.samples.order_by().values_list("pk", flat=True)[:REMOVED_AT_ONCE]):
        alive()
        Sample.objects.filter(pk__in=keys).delete()
    dataset.contestants.all().delete()
    dataset.pictures.all().delete()


def counted(times: dict[str, int]) -> list[dict[str, object]]:
    """Warnings as they are stored."""
    return [{"code": code, "times": number} for code, number in times.items() if number]


def _stepping(held: Held, records: int) -> Callable[[], None]:
    """Told before each batch."""
    batches = iter(range(1_000_000_000))
    expected = max(1, records // 400 + 1)

    def step() -> None:
        held(READ_SHARE + (1 - READ_SHARE) * min(1.0, next(batches) / expected))

    return step
