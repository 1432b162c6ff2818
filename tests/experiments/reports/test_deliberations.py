"""Reports of councils and debates: who said what, how it was ranked, who stood in for whom, and what it cost."""

import pytest

from experiments.runs.reports.formats import render_html
from experiments.runs.reports.messages import with_names
from tests.experiments.reports.deliberations import LABELS, council, counted, debate
from tests.experiments.reports.html_pages import section


def log(record):
    return section(render_html(record.fetched(), "en"), "log")


def in_order(text, *parts):
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)
    return True


def test_a_vote_that_is_missing_a_tie_and_another_chair_are_told_in_their_places(alice):
    told = log(council(alice))

    assert in_order(
        told,
        "Member 2 is thorough, see Response A in the code; Response Analysis is no label.",
        "Extracted ranking Member 1 = Member 3 (from the text)",
        *("Member 3 did not rank", "Extracted ranking no vote"),
        "Its ranking could not be read, nor could the second one.",
        *("The ranking 2 ballots", "Kemeny Member 1 = Member 3 > Member 2"),
        *("Chair: No answer arrived conclusion, attempt 1", "rate limited: Too many requests."),
        *("Chair: Chair 2 (chair-2 model) was asked instead", "chair model: rate limited: Too many requests."),
        *("Chair · conclusion chair-2 model", "Because of scattering."),
    )


@pytest.mark.parametrize(
    ("skipped", "said"), [("one_answer", "Only one member answered"), ("no_ballots", "No ballot could be used")]
)
def test_a_count_without_ballots_says_why(alice, skipped, said):
    record = council(alice)
    record.run.steps.filter(purpose="ballots_counted").update(data=counted(ballots=[], best=[], skipped=skipped))

    told = log(record)

    assert said in told
    assert "By method" not in told


def test_what_somebody_asked_for_afterwards_is_told(alice, exported):
    record = council(alice, overrides={"limits": {"tokens": 5000}})
    record.offer("turn/1/next/2", 1, "your_turn", "retry_seat", action="retry_seat", text="member-2", by="alice")
    [deed] = exported(record.run)["interventions"]
    record.offer("turn/1/next/3", 1, "your_turn", "deliberate", action="deliberate", text="", by="alice")
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=counted(count=2))
    best = {"turn": 1, "seat": "member-3", "message": "turn/1/answer/member-3", "reason": "No chair."}
    record.step("turn/1/conclusion/by-rank", purpose="concluded_by_rank", turn=1, data=best)
    record.step("turn/2/answer/member-2", "ask", purpose="reply", seat="member-2", turn=2, state="failed",
                data={"outcome": {"ok": False, "error_kind": "limit"}})  # fmt: skip

    html = render_html(record.fetched(), "en")

    told = section(html, "log")
    assert (deed["kind"], deed["seat"], deed["turn"], deed["by"]) == ("retry_seat", "member-2", 1, "alice")
    assert "Member 2 was asked again alice" in told
    assert "The answers were ranked again alice" in told
    assert told.count("superseded: the answers were ranked again") == 1
    assert "No chair could conclude. The best-ranked answer, by Member 3, is used instead" in told
    assert "Member 2 was not asked: the run reached a limit" in told
    assert "Changed during the run limits: none → 5,000 tokens" in section(html, "setup")


def test_who_answered_instead_and_an_answer_that_is_no_json_are_told(alice):
    record = debate(alice)
    told = log(record)

    assert in_order(
        told,
        "Model B: Model 1 of the pool (pool-1 model) was asked instead",
        *("shown as received: There is no JSON in it.", "I would rather say it in prose."),
    )
    assert "Another summary was requested" not in told, "to go on to the first one is no intervention"
    record.offer("summary/next/2", 2, "concluded", "summarize", action="summarize", text="", by="alice")
    assert "Another summary was requested alice" in log(record)


def test_names_take_the_place_of_whole_labels_alone():
    labels = {**LABELS["member-1"], "Response AA": "member-3"}

    named = with_names("**Response A**, Response AA, Response Analysis, `Response B`\n```\nResponse A\n```", labels)

    assert named == "**Member 2**, **Member 3**, Response Analysis, `Response B`\n```\nResponse A\n```"
