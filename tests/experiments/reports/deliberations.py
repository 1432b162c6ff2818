"""Councils and debates written row by row, as the engine leaves them: with failures, replacements and abstentions."""

from typing import Any

from experiments.models import Ballot, Message
from tests.experiments.reports.records import Record

QUESTION = "Why is the sky blue?"
REVIEW = """Response A is thorough, see `Response A` in the code; Response Analysis is no label.

FINAL RANKING:
1. Response B
2. Response A"""
LABELS = {
    "member-1": {"Response A": "member-2", "Response B": "member-3"},
    "member-2": {"Response A": "member-3", "Response B": "member-1"},
    "member-3": {"Response A": "member-1", "Response B": "member-2"},
}
ORDERS = {"member-1": [["member-3"], ["member-2"]], "member-2": [["member-1", "member-3"]]}
LIMITED = {"error_kind": "rate_limited", "error": "Too many requests."}
NO_BALLOT = "Its ranking could not be read, nor could the second one."


class Deliberation(Record):
    """Steps under the keys that their workflow gives them."""

    def sent(self, key: str, turn: int, text: str, kind: str) -> Message:
        step = self.step(key, purpose="message_sent", turn=turn)
        return self._message(step, turn=turn, seat="person", raw_text=text, text=text, parsed={"kind": kind})

    def stage(self, turn: int, key: str, name: str, number: int, of: int) -> None:
        data = {"turn": turn, "stage": name, "number": number, "of": of}
        self.step(f"{key}/stage/{name}", purpose="stage_started", turn=turn, data=data)

    def parsed(self, message: Message, flags: tuple[str, ...] = (), **parsed: Any) -> None:
        message.parsed, message.flags = parsed, list(flags)
        message.save(update_fields=["parsed", "flags"])
        self.step(f"{message.step.key}/parsed", purpose="message_parsed", turn=message.turn)

    def replaced(self, key: str, seat: str, by: str, turn: int) -> None:
        data = {"key": key, "seat": seat, "by": by, "reason": "rate_limited", "error": "Too many requests.",
                "model": self.models[by].label, "failed_model": self.models[seat].label}  # fmt: skip
        self.step(f"{key}/instead", purpose="seat_replaced", turn=turn, data=data)

    def offer(self, key: str, turn: int, reason: str, *actions: str, **said: Any) -> None:
        data = {"default": "", "actions": list(actions), "error": "", **said}
        state = {"state": "done"} if said else {"state": "open", "ended": None}
        self.step(key, "offer", purpose=reason, turn=turn, data=data, **state)

    def ballot(self, reviewer: str, turn: int = 1, **fields: Any) -> Ballot:
        step = self.step(f"turn/{turn}/review/{reviewer}/ballot", purpose="ballot_read", turn=turn)
        order = ORDERS.get(reviewer)
        read = {"order": order, "reading": "text" if order else "", "abstained_reason": "" if order else NO_BALLOT}
        same = {"reviewer": reviewer, "turn": turn, "labels": LABELS[reviewer], "model": self.models[reviewer].label}
        return Ballot.objects.create(run=self.run, step=step, **{**same, **read, **fields})


def council(owner: Any, **run: Any) -> Deliberation:
    """Three members answer, two of them rank, the second chair concludes; the next question may be asked."""
    record = Deliberation(owner, "council", stop_reason="your_turn", **run)
    record.turn(1)
    record.sent("turn/1/question", 1, QUESTION, "question")
    record.stage(1, "turn/1", "answers", 1, 3)
    for number in (1, 2, 3):
        seat = f"member-{number}"
        record.asked(f"turn/1/answer/{seat}", seat, 1, f"Answer {number}: **Rayleigh** scatters.")
    record.stage(1, "turn/1", "reviews", 2, 3)
    for seat in ("member-1", "member-2"):
        review = record.asked(f"turn/1/review/{seat}", seat, 1, REVIEW, purpose="review")
        record.ballot(seat, call=review.call, flags=["ties"] if seat == "member-2" else [])
    record.failed("turn/1/review/member-3", "member-3", 1, purpose="review", **LIMITED)
    record.ballot("member-3")
    record.step("turn/1/count", purpose="ballots_counted", turn=1, data=counted())
    record.stage(1, "turn/1", "conclusion", 3, 3)
    record.failed("turn/1/conclusion", "chair", 1, purpose="conclusion", **LIMITED)
    record.replaced("turn/1/conclusion/chair-2", "chair", "chair-2", 1)
    record.asked("turn/1/conclusion/chair-2", "chair", 1, "Because of scattering.", purpose="conclusion", by="chair-2")
    record.completed(1)
    record.offer("turn/1/next", 1, "your_turn", "send", "retry_seat", "deliberate")
    return record


def counted(**fields: Any) -> dict[str, Any]:
    ballots = [
        {"reviewer": reviewer, "order": order, "offered": list(LABELS[reviewer].values())}
        for reviewer, order in ORDERS.items()
    ]
    data = {"turn": 1, "count": 1, "seats": ["member-1", "member-2", "member-3"], "ballots": ballots}
    abstained = [{"reviewer": "member-3", "reason": NO_BALLOT}]
    return {**data, "abstained": abstained, "own_answers": "excluded", "skipped": "", "best": ["member-3"], **fields}


def debate(owner: Any, **run: Any) -> Deliberation:
    """A refined task, one round in which the second debater is replaced and the third cannot be read, a summary."""
    record = Deliberation(owner, "debate", stop_reason="concluded", **run)
    record.sent("request", 0, "How should our lab share one telescope?", "request")
    record.stage(0, "refine", "refine", 1, 1)
    brief = {"objective": "Share the telescope.", "context": "One lab.", "preferences": ["fair"], "missing": ["nights"]}
    refined = record.asked("refine", "refiner", 0, '{"objective": "…"}', purpose="refinement")
    record.parsed(refined, kind="brief", clarifying_questions=["How many groups?"], **brief)
    data = {"default": "Share it.", "actions": [], "action": "send", "text": "Share it fairly.", "edited": True,
            "by": "alice", "error": ""}  # fmt: skip
    record.step("prompt", "listen", purpose="final_prompt", turn=0, data=data)
    record.sent("prompt/final", 0, "Share it fairly.", "final_prompt")
    record.step("round/1", purpose="turn_started", turn=1)
    first = record.asked("round/1/A", "A", 1, '{"speaker": "A"}')
    points = [{"id": "p1", "contents": "Book nights a month ahead."}, {"id": "p2", "contents": "Keep a reserve."}]
    record.parsed(first, ("too_few_points",), kind="points", speaker="A", round=1, new_perspectives=points,
                  counterpoints=[])  # fmt: skip
    record.failed("round/1/B", "B", 1, **LIMITED)
    record.replaced("round/1/B/pool-1", "B", "pool-1", 1)
    second = record.asked("round/1/B/pool-1", "B", 1, '{"speaker": "B"}', by="pool-1")
    against = [{"id": "c1", "contents": "A1.p1 ignores the weather."}]
    record.parsed(second, kind="points", speaker="B", round=1, new_perspectives=points[:1], counterpoints=against)
    third = record.asked("round/1/C", "C", 1, "I would rather say it in prose.")
    record.parsed(third, ("unread",), kind="unread", reason="There is no JSON in it.")
    record.step("round/1/completed", purpose="turn_completed", turn=1)
    said = {"action": "summarize", "text": "", "edited": False, "by": "alice"}
    record.step("round/1/next", "listen", purpose="after_round", turn=1,
                data={"default": "", "actions": ["round", "summarize"], "error": "", **said})  # fmt: skip
    record.stage(2, "", "summary", 1, 1)
    summary = record.asked("summary", "summarizer", 2, "{}", purpose="summary")
    todo = [{"id": "action_1", "contents": "Open a calendar.", "sources": ["A1.p1", "B1.c1"]}]
    record.parsed(summary, kind="actions", recommended=todo, discouraged=[])
    record.offer("summary/next", 2, "concluded", "summarize", "round")
    return record
