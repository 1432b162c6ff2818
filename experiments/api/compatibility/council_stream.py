"""The events of one question, told as the client of LLM Council knows them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from experiments.api.compatibility import council_shapes as shapes
from experiments.models import Event, Run
from experiments.workflows.base.records import StageStarted
from experiments.workflows.council.records import Titled

Piece = dict[str, object]
TOLD = ("stage_started", "ballots_counted", "message_completed", "concluded_by_rank", "titled", "turn_completed")
UNDER_WAY = (Run.State.QUEUED, Run.State.RUNNING, Run.State.STOPPING)


@dataclass(slots=True)
class Telling:
    """What has been told of a turn. last: the id of the last event that a client has read, which may be another
    request's: all that came before it is passed over.
    """

    run_id: UUID
    turn: int
    last: str = ""
    seen: int = 0
    is_answered: bool = False
    told: set[str] = field(default_factory=set)

    def more(self) -> tuple[list[str], bool]:
        """The frames that are new, and whether they are the last."""
        run = Run.objects.select_related("experiment").get(pk=self.run_id)
        events = list(run.events.filter(seq__gt=self.seen, type__in=TOLD).order_by("seq"))
        frames: list[str] = []
        for event in events:
            self.seen = event.seq
            frames += self._frames(event.seq, self._pieces(run, event))
        if end := self._end(run):
            frames += self._frames(run.last_seq, [end])
        return frames, bool(end)

    def _pieces(self, run: Run, event: Event) -> Iterator[Piece]:
        if event.type == "titled" and self.turn == 1:
            yield {"type": "title_complete", "data": {"title": Titled.read(event.data).title}}
        elif event.data.get("turn") == self.turn and not self.is_answered:
            yield from self._of_turn(run, event)

    def _of_turn(self, run: Run, event: Event) -> Iterator[Piece]:
        stage = StageStarted.read(event.data).stage if event.type == "stage_started" else ""
        if stage == "answers":
            yield from self._once({"type": "stage1_start"})
        elif stage == "reviews":
            yield from self._opinions(run)
            yield from self._once({"type": "stage2_start"})
        elif event.type == "ballots_counted":
            yield from self._opinions(run)
            if "stage2_start" in self.told:
                found = {"data": shapes.stage2(run, self.turn), "metadata": shapes.metadata(run, self.turn)}
                yield from self._once({"type": "stage2_complete", **found})
        elif stage == "conclusion":
            yield from self._once({"type": "stage3_start"})
        elif event.type == "turn_completed":
            self.is_answered = True
            yield from self._once({"type": "stage3_complete", "data": shapes.stage3(run, self.turn)})

    def _opinions(self, run: Run) -> Iterator[Piece]:
        yield from self._once({"type": "stage1_complete", "data": shapes.stage1(run, self.turn)})

    def _once(self, piece: Piece) -> Iterator[Piece]:
        if piece["type"] not in self.told:
            self.told.add(str(piece["type"]))
            yield piece

    def _end(self, run: Run) -> Piece | None:
        """The question is answered and nothing of it is under way, a title neither; or it never will be."""
        if self.is_answered:
            goes_on = run.state in UNDER_WAY and shapes.questions_of(run) == self.turn
            return None if goes_on else {"type": "complete"}
        return {"type": "error", "message": shapes.why_none(run)} if run.is_over else None

    def _frames(self, seq: int, pieces: Any) -> Iterator[str]:
        for number, piece in enumerate(pieces):
            id_ = f"{seq}-{number}"
            if _place(id_) > _place(self.last):
                yield f"id: {id_}\ndata: {json.dumps(piece, ensure_ascii=False)}\n\n"


def _place(id_: str) -> tuple[int, ...]:
    """Where an event stands; before all others what is no id of ours."""
    parts = id_.split("-")
    return tuple(map(int, parts)) if len(parts) == 2 and all(p.isascii() and p.isdigit() for p in parts) else (-1, -1)
