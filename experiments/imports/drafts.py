"""A run's document, written step by step as the workflow that played it would have recorded it."""

from typing import Any
from uuid import NAMESPACE_OID, uuid5

from experiments.imports.values import Data, slug

REPORT_VERSION = 1
ELSEWHERE = "elsewhere"  # the kind of an error that another system tells of in words of its own
MOST_CHARACTERS_OF_ERROR = 20_000


class Draft:
    """Ids count from one, so that the same file gives the same document. `notes` and `kept` go with it."""

    def __init__(self, workflow: str, title: str, config: Data) -> None:
        self.workflow, self.title, self.config = workflow, title, config
        self.cast: dict[str, str] = {}
        self.run: Data = {"state": "completed", "stop_reason": "imported", "seed": 0}
        self.notes: list[str] = []
        self.kept: Data = {}
        self.rows: dict[str, list[Data]] = {name: [] for name in ROWS}
        self._keys: set[str] = set()
        self._count = 0

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def seat(self, seat: str, model: Any) -> str:
        """Who sits there; the slug of the model."""
        return self.cast.setdefault(seat, slug(model))

    def step(self, key: str, purpose: str, turn: int | None, kind: str = "record", **fields: Any) -> str:
        """Its key, which is made unique."""
        free, number = key, 1
        while free in self._keys:
            number += 1
            free = f"{key}/{number}"
        self._keys.add(free)
        self.rows["steps"].append({"key": free, "kind": kind, "purpose": purpose, "turn": turn, **fields})
        return free

    def begun(self, turn: int) -> None:
        self.step(f"turn/{turn}", "turn_started", turn, data={"turn": turn})

    def completed(self, turn: int) -> None:
        self.step(f"turn/{turn}/completed", "turn_completed", turn, data={"turn": turn})

    def sent(self, key: str, turn: int, seat: str, words: str, kind: str = "", at: str | None = None) -> str:
        """A person's words."""
        id_ = self._id()
        self.step(key, "message_sent", turn, message=id_)
        self._message(id_, turn, seat, words, {"purpose": "message_sent", "created": at} | _of(kind))
        return id_

    def said(self, key: str, turn: int, seat: str, words: str, *, purpose: str = "reply", **fields: Any) -> str:
        """A model's words; its key. call: what is known of how they were asked for."""
        id_ = self._id()
        model = self.cast.get(seat, "")
        call = fields.pop("call", None)
        key = self.step(key, purpose, turn, "ask", seat=seat, message=id_)
        if call is not None:
            fields["call"] = self._call(key, turn, seat, purpose, {"text": words, **call})
        self._message(id_, turn, seat, words, {"purpose": purpose, "model": model, **fields})
        return key

    def parsed(self, key: str, turn: int) -> None:
        """What was read out of the message of this step shows with it."""
        self.step(f"{key}/parsed", "message_parsed", turn)

    def failed(self, key: str, turn: int, seat: str, error: str, purpose: str = "reply") -> None:
        """A model that gave an error, in the words of the file."""
        key = self.step(key, purpose, turn, "ask", seat=seat, state="failed")
        said = error.strip()[:MOST_CHARACTERS_OF_ERROR] or "No answer."
        self._call(key, turn, seat, purpose, {"state": "failed", "error_kind": ELSEWHERE, "error": said})

    def judged(self, turn: int, judgments: list[Data], key: str = "") -> None:
        """Scores by subject; a judgment without scores says why."""
        if not judgments:
            return
        key = key or f"turn/{turn}/judge"
        self.step(f"{key}/started", "judge_evaluation_started", turn, data={"key": key, "turn": turn})
        rows = [{"id": self._id(), "turn": turn, **one} for one in judgments]
        self.step(f"{key}/completed", "judge_evaluation_completed", turn, judgments=[row["id"] for row in rows])
        self.rows["judgments"] += rows

    def vote(self, key: str, turn: int, judgment: Data) -> None:
        """A contestant's judgment of a solution."""
        row = {"id": self._id(), "turn": turn, **judgment}
        told = {name: row.get(name, OTHERWISE.get(name)) for name in TOLD_OF_A_VOTE}
        data = {"key": key, "turn": turn, "judgment": told}
        self.step(f"{key}/vote", "solution_judged", turn, judgments=[row["id"]], data=data)
        self.rows["judgments"].append(row)

    def ballot(self, review: str, turn: int, ballot: Data) -> None:
        """What was read out of the review of this step."""
        id_ = self._id()
        self.step(f"{review}/ballot", "ballot_read", turn, ballot=id_)
        self.rows["ballots"].append({"id": id_, "turn": turn, **ballot})

    def execution(self, key: str, turn: int, seat: str, execution: Data) -> None:
        key = self.step(key, "execution", turn, "execute", seat=seat)
        self.rows["executions"].append({"id": self._id(), "key": key, "turn": turn, "seat": seat, **execution})

    def document(self) -> Data:
        cast = [{"seat": seat, "model": model} for seat, model in self.cast.items()]
        experiment = {"workflow": self.workflow, "title": self.title[:200], "config": self.config, "cast": cast}
        rows = {name: rows for name, rows in self.rows.items() if rows or name == "messages"}
        return {"report_version": REPORT_VERSION, "run": self.run, "experiment": experiment, **rows}

    def _message(self, id_: str, turn: int, seat: str, words: str, fields: Data) -> None:
        said = {"id": id_, "turn": turn, "seat": seat, "text": words, "raw_text": words, **fields}
        self.rows["messages"].append({name: value for name, value in said.items() if value is not None})

    def _call(self, step: str, turn: int, seat: str, purpose: str, fields: Data) -> str:
        place = {"id": self._id(), "step": step, "turn": turn, "seat": seat, "purpose": purpose}
        call = {**place, "model": self.cast.get(seat, "unknown"), "cost_source": "unknown", **fields}
        self.rows["calls"].append(call)
        return str(call["id"])

    def _id(self) -> str:
        self._count += 1
        return str(uuid5(NAMESPACE_OID, str(self._count)))


ROWS = ("messages", "judgments", "ballots", "cycles", "executions", "calls", "steps")
TOLD_OF_A_VOTE = ("id", "subject", "judge_seat", "judge", "scores", "rationale", "flags", "unscored_reason")
OTHERWISE: Data = {"flags": [], "unscored_reason": ""}


def _of(kind: str) -> Data:
    return {"parsed": {"kind": kind}} if kind else {}
