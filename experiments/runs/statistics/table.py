"""The per-run values as rows of plain cells, for files and for the API."""

from collections.abc import Iterator

from experiments.runs.statistics.summary import Statistics
from experiments.runs.statistics.values import MEASURES

Cell = str | int | float | None

COLUMNS = (
    *("run", "seed", "state", "origin", "begins", "turns", "cost", "subject", "scored_turns", "deviated"),
    *("deviated_in", *MEASURES),
)


def table(statistics: Statistics) -> Iterator[list[Cell]]:
    """One row per run and subject, as COLUMNS say; None (an empty cell) where there is no value."""
    for place, run in enumerate(statistics.runs):
        for subject in statistics.subjects:
            values = statistics.values[subject][place]
            yield [
                str(run.id),
                run.seed,
                run.state,
                run.origin,
                run.begins,
                run.turns,
                None if run.cost is None else f"{run.cost:f}",
                subject,
                sum(any(v is not None for v in t.scores.values()) for t in run.of(subject).turns),
                None if values.deviated is None else int(values.deviated),
                values.deviated_in,
                *(values.measures[name] for name in MEASURES),
            ]
