"""What a lab would notice first: whether the transcripts and the ladders are the same. Hashed apart from the tables."""

import hashlib
from itertools import groupby
from typing import TypedDict

from django.apps.registry import Apps

from arenasite.backups.rows import AT_ONCE, Tallied, Tally, canonical, plain

SAID = ("run_id", "seq", "turn", "seat", "model", "raw_text", "text", "reasoning")
RATED = ("ladder__slug", "at", "name", "rating", "lower", "upper", "battles")


class Findings(TypedDict):
    transcripts: Tallied
    ladders: Tallied


def findings(apps: Apps, using: str) -> Findings:
    return {"transcripts": _transcripts(apps, using).said(), "ladders": _ladders(apps, using).said()}


def _transcripts(apps: Apps, using: str) -> Tally:
    """rows: of runs in which something was said. A run's hash is that of its words in their order."""
    tally = Tally()
    messages = apps.get_model("experiments", "message")._base_manager.using(using)
    found = messages.order_by("run_id", "seq").values_list(*SAID).iterator(chunk_size=AT_ONCE)
    for run, said in groupby(found, key=lambda message: message[0]):
        hashed = hashlib.sha256()
        for message in said:
            hashed.update(canonical([plain(value) for value in message]).encode() + b"\n")
        tally.add(f"{run} {hashed.hexdigest()}")
    return tally


def _ladders(apps: Apps, using: str) -> Tally:
    """Where everybody stands, and the history that led there."""
    tally = Tally()
    standings = apps.get_model("leaderboard", "standing")._base_manager.using(using)
    for slug, data in standings.values_list("ladder__slug", "data").iterator(chunk_size=10):
        tally.add(canonical([slug, data]))
    points = apps.get_model("leaderboard", "ratingpoint")._base_manager.using(using)
    for point in points.values_list(*RATED).iterator(chunk_size=AT_ONCE):
        tally.add(canonical([plain(value) for value in point]))
    return tally
