"""Records as tables: plain cells, judgments with one row per score."""

from decimal import Decimal

from arena_lab import to_dataframe
from arena_lab.frames import tidy
from arena_lab.records import Judgment, Run
from tests.client.test_records import RUN

JUDGMENT = {"id": "1", "turn": 2, "subject": "A", "judge": "sim/judge", "confidence": 0.9, "unscored_reason": ""}


def judged(**fields):
    return Judgment.read({**JUDGMENT, **fields})


def test_a_judgment_has_one_row_per_score():
    rows = list(tidy(judged(scores={"cooperation": 0.7, "sentiment": {"anger": 0.0}})))

    assert [(row["subject"], row["measure"], row["score"]) for row in rows] == [
        ("A", "cooperation", 0.7),
        ("A", "sentiment.anger", 0.0),
    ]


def test_a_judgment_without_scores_has_a_row_that_says_why():
    [row] = tidy(judged(scores=None, unscored_reason="no JSON"))

    assert (row["measure"], row["score"], row["unscored_reason"]) == (None, None, "no JSON")


def test_what_is_in_a_record_has_columns_of_its_own_there_or_not():
    [full] = tidy(Run.read(RUN))
    [bare] = tidy(Run.read({**RUN, "waiting_for": None, "cost": None}))

    assert full["usage_input_tokens"] == 10
    assert full["waiting_for"] == "turn/1/next"
    assert isinstance(full["cost"], float)
    assert float(Decimal(RUN["cost"])) == full["cost"]
    assert set(full) == set(bare)
    assert bare["cost"] is None


def test_a_frame_has_the_columns_that_are_given_first():
    frame = to_dataframe([judged(scores={"a": 1.0, "b": 2.0}), judged(scores={"a": 3.0})], run="0195")

    assert list(frame.columns[:2]) == ["run", "id"]
    assert frame.groupby("measure")["score"].mean().to_dict() == {"a": 2.0, "b": 2.0}
