"""Datasets that battles are measured on: made in the database of the environment. Used as a program of its own.

python -m benchmarks.fields make CONTESTANTS SAMPLES         a dataset `field-…` of the user `bench`; prints its slug
python -m benchmarks.fields decide CONTESTANTS SAMPLES       fills one with battles and measures what planning takes
"""

import os
import resource
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402

from accounts.models import User  # noqa: E402
from experiments.models import (  # noqa: E402
    Board,
    Contestant,
    Dataset,
    Experiment,
    Output,
    Provider,
    ProviderModel,
    Sample,
)
from experiments.runs import actions  # noqa: E402
from experiments.workflows.battles.campaign import counting  # noqa: E402
from experiments.workflows.battles.campaign.planning import (  # noqa: E402
    BattleGround,
    Place,
    draw,
)
from experiments.workflows.battles.campaign.scope import scope_of  # noqa: E402

ROWS = 2_000
FILL = """
INSERT INTO experiments_battle (board_id, sample_id, left_id, right_id, winner, is_consistent, open_reason, ballot,
    judged, void_reason, created)
SELECT {board}, s.id, l.id, r.id, CASE (s.id * 7 + l.id + r.id * 3) % 5 WHEN 0 THEN 'tie' WHEN 1 THEN 'right'
    ELSE 'left' END, {true}, '', '', CURRENT_TIMESTAMP, '', CURRENT_TIMESTAMP
FROM experiments_sample s, experiments_contestant l, experiments_contestant r
WHERE s.dataset_id = {dataset} AND l.dataset_id = s.dataset_id AND r.dataset_id = s.dataset_id AND l.id < r.id
    AND (s.id * 31 + l.id * 17 + r.id) % {spared} <> 0
"""


def make(contestants: int, samples: int) -> Dataset:
    owner = User.objects.get_or_create(username="bench")[0]
    slug = f"field-{contestants}-{samples}-{Dataset.objects.count()}"
    dataset = Dataset.objects.create(owner=owner, name=slug, slug=slug, state=Dataset.State.READY)
    rows = (Sample(dataset=dataset, index=n, instruction=f"Describe tree number {n}.") for n in range(samples))
    Sample.objects.bulk_create(rows, batch_size=ROWS)
    keys = list(dataset.samples.values_list("pk", flat=True))
    for number in range(contestants):
        one = Contestant.objects.create(dataset=dataset, name=f"contestant {number}")
        outputs = (Output(sample_id=key, contestant=one, text=f"Tree {key} by {number} is tall. " * 8) for key in keys)
        Output.objects.bulk_create(outputs, batch_size=ROWS)
    return dataset


def experiment_on(dataset: Dataset) -> Experiment:
    provider = Provider.objects.get_or_create(name="nowhere", defaults={"base_url": "http://nowhere.invalid/v1"})[0]
    model = ProviderModel.objects.get_or_create(
        slug="nowhere/judge", defaults={"provider": provider, "upstream": "judge", "label": "Judge"}
    )[0]
    config = {"dataset": dataset.slug, "prompt": "text_quality"}
    cast: dict[str, Any] = {"judge": {"model": model.slug}}
    return actions.create(owner=dataset.owner, workflow="battles", config=config, cast=cast)


def decide(contestants: int, samples: int, spared: int = 50) -> None:
    """All battles but one of `spared` are decided: how long it takes to know which are left, and to begin with them."""
    dataset = make(contestants, samples)
    experiment = experiment_on(dataset)
    scope = scope_of(experiment)
    [board] = scope.boards.values()
    to_database = Dataset._meta.pk.get_db_prep_value(dataset.pk, connection)
    quoted = f"'{to_database}'"
    yes = "TRUE" if connection.vendor == "postgresql" else "1"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FILL.format(board=board, dataset=quoted, spared=spared, true=yes))
    decided = counting.recount(Board.objects.get(pk=board))
    base = _peak()
    begun = time.monotonic()
    ground = BattleGround(scope_of(experiment), 0)
    found = ground.survey()
    looked = time.monotonic()
    tasks = draw(ground, found.lanes, Place(), 600).tasks
    drawn = time.monotonic()
    print(
        f"resume with {decided:,} battles decided   {drawn - begun:.1f} s to find the {found.missing:,} that are left"
        f" ({looked - begun:.1f} s) and the first {len(tasks)} of them; {_peak() - base:.0f} MiB above the base"
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    verb, numbers = sys.argv[1], [int(number) for number in sys.argv[2:4]]
    if verb == "make":
        print(make(*numbers).slug)
    else:
        decide(*numbers)
