"""From the books that the processes leave behind to the values that are compared."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.faults.facts import Account, Called, Facts, Passed, Played, Seen, Served, Shown, Stepped
from benchmarks.faults.kinds import Happening
from benchmarks.faults.players import Play
from benchmarks.faults.screens import digest

STANDS_STILL = ("freeze", "postgres", "postgres-away", "postgres-freeze", "disk")  # nothing can be written meanwhile
RECOVERY_SECONDS = 3.0  # that connections and a log that is played again may take on top


def facts(
    record: Mapping[str, Any],
    *,
    proxy: str,
    folder: Path,
    play: Play,
    happened: Sequence[Happening],
    **more: Any,
) -> Facts:
    (folder / "happened.json").write_text(json.dumps([asdict(one) for one in happened]))
    screens = json.loads((folder / "screens.json").read_text())
    return Facts(
        runs=[run(row) for row in record["runs"]],
        served=[served(json.loads(line)) for line in (folder / "ledger.jsonl").read_text().splitlines()],
        passed=[passed(row) for row in fetched(f"{proxy.removesuffix('/v1')}/book", folder / "book.json")],
        screens=[seen(row) for row in screens],
        accounts=[account(row) for row in record["accounts"]],
        ladders=[Shown(**row) for row in record["ladders"]],
        votes={int(battle): choice for battle, choice in record["votes"].items()},
        away=[away(one) for one in happened if one.kind in STANDS_STILL],
        extra={
            "said": play.said,
            "votes": play.votes,
            "files": play.files,
            "doubled": play.doubled,
            "undriven": json.loads((folder / "leases.json").read_text()),
            **more,
        },
    )


def fetched(url: str, keep: Path) -> Any:
    """The JSON of an address, which is kept for whoever looks into a difference."""
    with urllib.request.urlopen(url) as answer:
        keep.write_bytes(answer.read())
    return json.loads(keep.read_text())


def run(row: Mapping[str, Any]) -> Played:
    plain = ("id", "workflow", "state", "reason", "last_seq", "is_waiting_by_design", "has_lease")
    texts = ("messages", "sources", "told", "page", "replay", "said")
    return Played(
        **{name: row[name] for name in (*plain, *texts)},
        events={envelope["seq"]: digest(envelope) for envelope in row["envelopes"]},
        steps=[Stepped(**step) for step in row["steps"]],
        calls=[call(one) for one in row["calls"]],
    )


def call(row: Mapping[str, Any]) -> Called:
    return Called(**{**row, "cost": _money(row["cost"]), "reserved": _money(row["reserved"])})


def served(row: Mapping[str, Any]) -> Served:
    return Served(row["request_id"], row["outcome"], row["tokens_sent"])


def passed(row: Mapping[str, Any]) -> Passed:
    texts = [(at, text) for at, text in row["texts"]]
    return Passed(row["request_id"], row["fault"], row["forwarded"], row["whole"], row["left"], texts)


def seen(row: Mapping[str, Any]) -> Seen:
    events = {int(seq): told for seq, told in row["events"].items()}
    return Seen(row["run"], events, row["texts"], row["messages"], row["gaps"], row["joins"])


def account(row: Mapping[str, Any]) -> Account:
    money = {name: Decimal(row[name]) for name in ("earlier", "spent", "reserved")}
    return Account(row["name"], _money(row["limit"]), **money, counted=row["counted"])


def away(one: Happening) -> tuple[float, float]:
    return one.begin, (one.end or one.begin) + RECOVERY_SECONDS


def _money(amount: str | None) -> Decimal | None:
    return None if amount is None else Decimal(amount)
