"""A board as a folder for the Hugging Face Hub: its battles and its ratings as Parquet, with a card and croissant.json.
The columns of battles are those of LMArena's files, so that `import_battles` reads the table again.
"""

import math
from collections.abc import Iterator

from experiments.library.datasets.hub import About, Column, Table, zipped
from experiments.models import Battle, Board
from experiments.workflows.battles.campaign.logs.exporting import Log
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.ratings import by_items, tally

SIDES = {"a": "model_a", "b": "model_b", "tie": "tie"}
ROUNDED = 6


def board_zip(board: Board) -> Iterator[bytes]:
    """The battles that ratings count, and the ratings, both without contestants that are left out."""
    log = Log(board)
    about = About(f"{board.dataset.name}, {_judged(board)}", board.slug, described(board))
    return zipped(about, [_battles(log), ratings_table(log)])


def described(board: Board) -> str:
    """What the battles and the ratings of a board are."""
    prompt = f", prompt {board.prompt} in version {board.prompt_version}" if board.prompt else ""
    return (
        f"Battles between outputs on the samples of the dataset {board.dataset.name} ({board.dataset.slug}), by "
        f"{_judged(board)}{prompt}. Ratings are Bradley-Terry ratings on the scale of Elo with the mean 1000; the "
        "battles of one sample are one observation in their 95 % intervals."
    )


def _judged(board: Board) -> str:
    return "people's votes" if board.kind == Board.Kind.PEOPLE else f"verdicts of {board.judge}"


def _battles(log: Log) -> Table:
    is_of_people = log.board.kind == Board.Kind.PEOPLE
    columns = {
        "question_id": Column("BIGINT", "Number of the battle"),
        "model_a": Column("VARCHAR", "The contestant whose name sorts first"),
        "model_b": Column("VARCHAR", "The other one"),
        "winner": Column("VARCHAR", "model_a, model_b or tie"),
        "judge": Column("VARCHAR", "The model that decided; empty for votes of people"),
        "voter": Column("VARCHAR", "A pseudonym of the person who voted, which holds on this board; else empty"),
        "shown_first": Column("VARCHAR", "model_a or model_b; empty where both orders were judged, or none is known"),
        "subset": Column("VARCHAR", "Subset of the sample"),
        "sample_index": Column("BIGINT", "Number of the sample within its subset"),
        "category": Column("VARCHAR", "Kind of task"),
        "language": Column("VARCHAR", "Language of the prompt"),
        "is_consistent": Column("BOOLEAN", "Whether both orders were decided alike; null where only one was judged"),
        "tstamp": Column("DOUBLE", "When it was decided, in seconds since 1970"),
    }

    def row(battle: Battle) -> dict[str, object]:
        told = log.record(battle, ())
        first = {None: "", True: "model_a", False: "model_b"}[told.a_shown_first]
        cells = (
            *(battle.pk, told.model_a, told.model_b, SIDES[told.winner], "" if is_of_people else log.board.judge),
            *(log.pseudonym(battle) or "", first, told.task.subset or "", told.task.index, told.task.category),
            *(told.task.language, battle.is_consistent, told.judged.timestamp() if told.judged else None),
        )
        return dict(zip(columns, cells, strict=True))

    return Table("battles", columns, map(row, log.each(log.results())))


def ratings_table(log: Log) -> Table:
    """Those who met somebody and are not left out."""
    columns = {
        "model": Column("VARCHAR", "The contestant"),
        "rating": Column("DOUBLE", "Elo, mean 1000; null with a reason"),
        "lower": Column("DOUBLE", "Lower end of the 95 % interval"),
        "upper": Column("DOUBLE", "Upper end of the 95 % interval"),
        "wins": Column("BIGINT", "Battles won"),
        "losses": Column("BIGINT", "Battles lost"),
        "ties": Column("BIGINT", "Ties"),
        "reason": Column("VARCHAR", "Why there is no rating; else empty"),
    }
    kept = sorted((one for one in log.contestants.values() if not one.void_reason), key=lambda one: one.name)
    names = tuple(one.name for one in kept)
    shared = shared_of([log.board.pk], {one.pk: place for place, one in enumerate(kept)}, names)
    table = tally(shared.battles)
    found = by_items(table, shared)

    def finite(value: float) -> float | None:
        return round(float(value), ROUNDED) if math.isfinite(value) else None

    told = zip(
        names,
        *(map(finite, values) for values in (found.ratings.values, found.lower, found.upper)),
        *(counts.astype(int).tolist() for counts in (table.wins.sum(1), table.wins.sum(0), table.ties.sum(1))),
        (reason.sentence if reason else "" for reason in found.ratings.reasons),
        strict=True,
    )
    met = table.games.sum(axis=1) > 0
    rows = (dict(zip(columns, one, strict=True)) for one, has_met in zip(told, met, strict=True) if has_met)
    return Table("ratings", columns, rows)
