"""What reviewers write: the order in which they put the answers."""

from experiments.workflows.base.ballots import FLAGS, Ranked, read_ballot, read_repaired
from experiments.workflows.base.labels import labels_for, plain
from experiments.workflows.base.parsing import Unreadable
from tests.fuzzing.target import Target, text_of

LABELS = labels_for(4)
SHOWN = ("The sky is blue.", "FINAL RANKING:\n1. Response B\n2. Response A")


def ballots_of(data: bytes) -> list[Ranked]:
    found = []
    text = text_of(data)
    for read, more in ((read_ballot, (SHOWN,)), (read_repaired, ())):
        try:
            found.append(read(text, LABELS, *more))
        except Unreadable as why:
            assert len(str(why)) > 5
    return found


def check_ballots(data: bytes) -> None:
    """A vote is for somebody who stands in the text, once, and what was put right is said."""
    letters = plain(text_of(data)).upper()
    for ballot in ballots_of(data):
        named = [label for place in ballot.order for label in place]
        assert named
        assert all(ballot.order)
        assert len(set(named)) == len(named)
        assert set(named) <= set(LABELS)
        assert all(label[-1] in letters for label in named)
        assert ("partial" in ballot.flags) == (len(named) < len(LABELS))
        assert ("ties" in ballot.flags) == any(len(place) > 1 for place in ballot.order)
        assert set(ballot.flags) <= set(FLAGS)


WORDS = (
    "FINAL RANKING:", "**Final Ranking**\n", "最终排名：", "\n", "1. ", "2. ", "3) ", "- ", "> ", " > ", " = ", ", ",
    "|", "| # | Response |\n", "|-|-|\n", "Response A", "Response B", "Response C", "Response D", "Response Z",
    "A", "B", "回答 C", "is better than", "[", "]", '"', "{", "}", '{"ranking": ["Response A", ', "```\n", "(tie)",
    "**", "&gt;", "第1名", "１．", "🥇", "\u200b", "\x00", "\ud800", "\u2028", "    ", "\t", "</b>", ". ",
    "Response Analysis",
)  # fmt: skip
SEEDS = (
    b"Good.\n\nFINAL RANKING:\n1. Response C\n2. Response A\n3. Response B\n4. Response D",
    b"FINAL RANKING: C > A = B > D",
    b"## Final ranking\n| # | Response |\n|-|-|\n| 2 | A |\n| 1 | B |",
    b'```json\n{"review": "x", "ranking": ["Response A", ["Response B", "Response C"]]}\n```',
    "最终排名：\n1. 回答 B\n2. 回答 A".encode(),
)
TARGETS = (Target("ballot", ballots_of, check_ballots, WORDS, ("ranking", "review"), SEEDS),)
