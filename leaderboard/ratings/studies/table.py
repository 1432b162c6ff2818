"""The rows of a study as a table: one line per planned run, a column per factor and outcome, and back.

Numbers are written so that reading them gives the same ones; an empty cell is a missing value, with its reason beside.
"""

import csv
import io
from collections.abc import Iterator

from leaderboard.ratings.studies.analysis import Plan, Row

HAPPENED, MISSING, COVERED = "happened", "missing", "covered"
DETAILS = {"diversity": "answer", "confidence": "provider"}  # the column of Row.details, by kind of outcome


def columns(plan: Plan) -> Iterator[tuple[str, str]]:
    """Each column with what it means."""
    yield "run", "the id of the run; planned-N where it was never begun"
    for factor in plan.factors:
        yield f"factor.{factor}", "the level of this factor"
    for outcome in plan.outcomes:
        meaning = {
            "rate": "1 where it happened in the run, 0 where it did not",
            "score": "the score of the run",
            "time": "the turn in which it happened, or the last turn of a run in which it did not",
            "diversity": "how many different pairs of words the answer has",
            "confidence": "the figure of the probabilities of its tokens, 0 to 1",
        }[outcome.kind]
        yield outcome.name, f"{meaning}; empty where it is missing"
        if outcome.kind == "time":
            yield f"{outcome.name}.{HAPPENED}", "1 where it happened, 0 where the run ended without it"
        if outcome.kind == "diversity":
            yield f"{outcome.name}.{DETAILS[outcome.kind]}", "CRC-32 of each of these pairs, eight hexadecimal digits"
        if outcome.kind == "confidence":
            yield f"{outcome.name}.{DETAILS[outcome.kind]}", "the provider that gave the probabilities"
            yield f"{outcome.name}.{COVERED}", "how much probability the recorded alternatives of a token had, 0 to 1"
        yield f"{outcome.name}.{MISSING}", "why the value is missing"


def kinds(plan: Plan) -> dict[str, str]:
    """What each column holds: text, number, or flag, which is written 1 or 0."""
    of_outcomes = {outcome.name: "number" for outcome in plan.outcomes}
    of_outcomes |= {f"{outcome.name}.{HAPPENED}": "flag" for outcome in plan.outcomes}
    of_outcomes |= {f"{outcome.name}.{COVERED}": "number" for outcome in plan.outcomes}
    return {name: of_outcomes.get(name, "text") for name, _meaning in columns(plan)}


def written(plan: Plan, rows: list[Row]) -> str:
    """CSV (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _meaning in columns(plan)])
    for row in rows:
        cells: list[object] = [row.run, *(row.levels[name] for name in plan.factors)]
        for outcome in plan.outcomes:
            value = row.values[outcome.name]
            cells.append("" if value is None else repr(value))
            if outcome.kind == "time":
                cells.append("" if value is None else int(row.happened[outcome.name]))
            if outcome.kind in DETAILS:
                cells.append(row.details.get(outcome.name, ""))
            if outcome.kind == "confidence":
                cells.append("" if (covered := row.covered.get(outcome.name)) is None else repr(covered))
            cells.append(row.missing.get(outcome.name, ""))
        writer.writerow(cells)
    return text.getvalue()


def read(plan: Plan, text: str) -> list[Row]:
    """The rows that were written. Raises KeyError for a missing column and ValueError for what is no number."""
    rows = []
    for line in csv.DictReader(io.StringIO(text)):
        values = {one.name: float(line[one.name]) if line[one.name] else None for one in plan.outcomes}
        details = {
            one.name: said
            for one in plan.outcomes
            if one.kind in DETAILS and (said := line[f"{one.name}.{DETAILS[one.kind]}"])
        }
        covered = {
            one.name: float(said)
            for one in plan.outcomes
            if one.kind == "confidence" and (said := line[f"{one.name}.{COVERED}"])
        }
        times = [one.name for one in plan.outcomes if one.kind == "time" and values[one.name] is not None]
        reasons = {one.name: line[f"{one.name}.{MISSING}"] for one in plan.outcomes if values[one.name] is None}
        rows.append(
            Row(
                line["run"],
                {name: line[f"factor.{name}"] for name in plan.factors},
                values,
                {name: line[f"{name}.{HAPPENED}"] == "1" for name in times},
                reasons,
                details,
                covered,
            )
        )
    return rows
