"""A run's document, written step by step as the workflow that played it would have recorded it."""

from typing import Any
from uuid import NAMESPACE_OID, uuid5

from experiments.engine.projections import listed_writers
from experiments.library.imports.values import Data, slug

REPORT_VERSION = 1
BEFORE, AFTER = ("messages", "judgments"), ("calls", "steps")  # the lists of row writers
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
        own = [listed.name for listed, _writer in listed_writers()]
        self.rows: dict[str, list[Data]] = {name: [] for name in (*BEFORE, *own, *AFTER)}
        self._keys: set[str] = set()
        self._count = 0

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def keep(self, name: str, beside: Data, **place: Any) -> None:
        """What the file says beside what is taken over, with its place in the run."""
        if beside:
            self.kept.setdefault(name, []).append({**place, **beside})

    def lasted(self, started: str | None, ended: str | None = None) -> None:
        self.run |= {name: at for name, at in (("started", started), ("ended", ended)) if at}

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

    def stage(self, key: str, turn: int, name: str, number: int = 1, of: int = 1) -> None:
        self.step(key, "stage_started", turn, data={"turn": turn, "stage": name, "number": number, "of": of})

    def completed(self, turn: int) -> None:
        self.step(f"turn/{turn}/completed", "turn_completed", turn, data={"turn": turn})

    def sent(self, key: str, turn: int, seat: str, words: str, kind: str = "", at: str | None = None) -> str:
        """A person's words."""
        id_ = self.id()
        self.step(key, "message_sent", turn, message=id_)
        parsed: Data = {"parsed": {"kind": kind}} if kind else {}
        self._message(id_, turn, seat, words, {"purpose": "message_sent", "created": at, **parsed})
        return id_

    def said(self, key: str, turn: int, seat: str, words: str, *, purpose: str = "reply", **fields: Any) -> str:
        """A model's words; its key. call: what is known of how they were asked for."""
        id_ = self.id()
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
        rows = [self.judgment(turn, one) for one in judgments]
        self.step(f"{key}/completed", "judge_evaluation_completed", turn, judgments=[row["id"] for row in rows])

    def left(self, key: str, purpose: str, turn: int, line: str, name: str, row: Data) -> None:
        """A row of the list `name`, and the step that left it, which names it as its `line`."""
        id_ = self.id()
        self.step(key, purpose, turn, **{line: id_})
        self.rows[name].append({"id": id_, "turn": turn, **row})

    def judgment(self, turn: int, row: Data) -> Data:
        """One for which the caller has a step."""
        judgment = {"id": self.id(), "turn": turn, **row}
        self.rows["judgments"].append(judgment)
        return judgment

    def document(self) -> Data:
        cast = [{"seat": seat, "model": model} for seat, model in self.cast.items()]
        experiment = {"workflow": self.workflow, "title": self.title[:200], "config": self.config, "cast": cast}
        rows = {name: rows for name, rows in self.rows.items() if rows or name == "messages"}
        return {"report_version": REPORT_VERSION, "run": self.run, "experiment": experiment, **rows}

    def _message(self, id_: str, turn: int, seat: str, words: str, fields: Data) -> None:
        said = {"id": id_, "turn": turn, "seat": seat, "text": words, "raw_text": words, **fields}
        self.rows["messages"].append({name: value for name, value in said.items() if value is not None})

    def _call(self, step: str, turn: int, seat: str, purpose: str, fields: Data) -> str:
        place = {"id": self.id(), "step": step, "turn": turn, "seat": seat, "purpose": purpose}
        call = {**place, "model": self.cast.get(seat, "unknown"), "cost_source": "unknown", **fields}
        self.rows["calls"].append(call)
        return str(call["id"])

    def id(self) -> str:
        self._count += 1
        return str(uuid5(NAMESPACE_OID, str(self._count)))
