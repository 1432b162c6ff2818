"""Reports of councils and debates: who said what, how it was ranked, who stood in for whom, and what it cost."""

import re
from typing import Any

import pytest

from experiments.models import Run
from experiments.reports.html import render_html
from experiments.reports.markdown import render_markdown
from experiments.reports.pdf import render_pdf
from experiments.reports.reviews import with_names
from tests.cases import each_case
from tests.experiments.reports.deliberations import LABELS, council, counted, debate
from tests.experiments.reports.html_pages import section, words
from tests.experiments.reports.test_pdf import read, text_of

pytestmark = pytest.mark.django_db


def log(record: Any) -> str:
    return section(render_html(record.fetched(), "en"), "log")


def in_order(text: str, *parts: str) -> bool:
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)
    return True


def test_a_council_is_told_stage_by_stage(alice: Any) -> None:
    assert in_order(
        log(council(alice)),
        "Question 1",
        "The question",
        "Stage 1 of 3: Answers",
        "Answer 3: Rayleigh scatters.",
        "Stage 2 of 3: Reviews",
        "Member 1 · review",
        "Member 3 did not rank",
        "The ranking 2 ballots",
        "Stage 3 of 3: Conclusion",
        "Because of scattering.",
        "The run was completed: the question was answered",
    )


def test_a_review_is_told_with_names_its_labels_and_the_order_that_was_read(alice: Any) -> None:
    told = log(council(alice))

    assert "Member 2 is thorough, see Response A in the code; Response Analysis is no label." in told
    assert "Names in bold were put in for reading" in told
    assert "As the reviewer wrote it with its labels Response A is thorough" in told
    assert "Shown, in this order Response A = Member 2, Response B = Member 3" in told
    assert "Extracted ranking Member 3 > Member 2 (from the text)" in told
    assert "Extracted ranking Member 1 = Member 3 (from the text)" in told
    assert "When it was read ranked answers as equal" in told


def test_an_abstention_is_told_with_its_reason(alice: Any) -> None:
    told = log(council(alice))

    assert "Member 3: No answer came back review, attempt 1" in told
    assert "Extracted ranking no vote" in told
    assert "Why it abstained Its ranking could not be read, nor could the second one." in told


def test_the_ranking_shows_every_method_and_says_when_they_disagree(alice: Any) -> None:
    told = log(council(alice))

    assert "Member 3 1.25 2 0.75 1 1000" in told
    assert "Member 2 2 1 0 −1 – –" in told
    assert "Member 2 has no Bradley-Terry rating: nobody ranked it above another answer" in told
    for method in ("mean rank", "Borda", "Copeland"):
        assert f"{method} Member 3 > Member 1 > Member 2" in told
    for method in ("Schulze", "Kemeny", "Bradley-Terry"):
        assert f"{method} Member 1 = Member 3 > Member 2" in told
    assert "The methods disagree on the best answer: Member 3 by mean rank, Borda, Copeland;" in told
    assert "Kendall's W undefined: the reviewers did not all rank the same answers" in told
    assert "Krippendorff's alpha 0 (1 full agreement, 0 as by chance)" in told


@pytest.mark.parametrize(
    ("skipped", "said"), [("one_answer", "Only one member answered"), ("no_ballots", "No ballot could be used")]
)
def test_a_count_without_ballots_says_why(alice: Any, skipped: str, said: str) -> None:
    record = council(alice)
    record.run.steps.filter(purpose="ballots_counted").update(data=counted(ballots=[], best=[], skipped=skipped))

    told = log(record)

    assert said in told
    assert "By method" not in told


def test_an_earlier_count_is_marked_as_superseded(alice: Any) -> None:
    record = council(alice)
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=counted(count=2))

    assert log(record).count("superseded: the answers were ranked again") == 1


def test_who_stood_in_for_the_chair_is_told_with_the_failure(alice: Any) -> None:
    told = log(council(alice))

    assert in_order(
        told,
        "Chair: No answer came back conclusion, attempt 1",
        "rate limited: Too many requests.",
        "Chair: Chair 2 (chair-2 model) was asked instead",
        "chair model: rate limited: Too many requests.",
        "Chair · conclusion chair-2 model",
    )


def test_what_somebody_asked_for_afterwards_is_told(alice: Any) -> None:
    record = council(alice)
    record.offer("turn/1/next/2", 1, "your_turn", "retry_seat", action="retry_seat", text="member-2", by="alice")
    record.offer("turn/1/next/3", 1, "your_turn", "deliberate", action="deliberate", text="", by="alice")
    best = {"turn": 1, "seat": "member-3", "message": "turn/1/answer/member-3", "reason": "No chair."}
    record.step("turn/1/conclusion/by-rank", purpose="concluded_by_rank", turn=1, data=best)

    told = log(record)

    assert "Member 2 was asked again alice" in told
    assert "The answers were ranked again alice" in told
    assert "Nobody could conclude: the best ranked answer, that of Member 3, stands in" in told


def test_a_step_that_a_limit_left_out_is_told(alice: Any) -> None:
    record = council(alice)
    record.step("turn/2/answer/member-2", "ask", purpose="reply", seat="member-2", turn=2, state="failed",
                data={"outcome": {"ok": False, "error_kind": "limit"}})  # fmt: skip

    assert "Member 2 was not asked: a limit of the run was reached" in log(record)


@pytest.mark.parametrize("make", [council, debate])
def test_costs_are_told_by_stage_and_by_role(alice: Any, make: Any) -> None:
    costs = section(render_html(make(alice).fetched(), "en"), "costs")

    first = {council: "Question 1: answers 3 300 60 $0.0036 4.5", debate: "Refinement 1 100 20 $0.0012 1.5"}[make]
    assert first in costs
    assert "By stage" in costs
    assert "By role" in costs
    assert re.search(r"(Chair · conclusion|Model B · reply) 2 ≥ 100 \(1 call unknown\)", costs)


@pytest.mark.parametrize("make", [council, debate])
def test_what_nobody_judged_has_no_section_of_judgments(alice: Any, make: Any) -> None:
    html = render_html(make(alice).fetched(), "en")

    assert 'id="judgments"' not in html
    assert 'id="metrics"' not in html


def test_a_debate_is_told_with_its_points_and_their_references(alice: Any) -> None:
    assert in_order(
        log(debate(alice)),
        "The request",
        "Objective Share the telescope.",
        "To be clarified How many groups?",
        "The final prompt was edited alice",
        "What was offered the text before the change Share it.",
        "Round 1",
        "fewer new points than asked for",
        "A1.p1 Book nights a month ahead.",
        "Model B: Model 1 of the pool (pool-1 model) was asked instead",
        "B1.c1 A1.p1 ignores the weather.",
        "shown as it came: There is no JSON in it.",
        "I would rather say it in prose.",
        "action_1 Open a calendar. (from A1.p1, B1.c1)",
        "The run was completed: the summary was given",
    )


def test_going_on_to_the_summary_is_no_intervention_and_a_second_summary_is(alice: Any) -> None:
    record = debate(alice)
    assert "Another summary was asked for" not in log(record)

    record.offer("summary/next/2", 2, "concluded", "summarize", action="summarize", text="", by="alice")

    assert "Another summary was asked for alice" in log(record)


def test_a_substitute_is_shown_with_the_model_that_served_it(alice: Any) -> None:
    setup = section(render_html(council(alice).fetched(), "en"), "setup")

    assert "Chair 2 chair-2 model · lab served-chair" in setup
    assert "First question Why is the sky blue?" in setup


@each_case("make", [council, debate])
@each_case("language", ["en", "zh-hans"])
def test_paper_and_markdown_hold_what_the_page_holds(alice: Any, make: Any, language: str) -> None:
    run = make(alice).fetched()
    html, markdown = words(render_html(run, language)), render_markdown(run, language)
    pdf = text_of(read(render_pdf(run, language)))

    said = ["Because of scattering.", "Rayleigh"] if make is council else ["Book nights a month ahead.", "B1.c1"]
    assert all(part in told for part in said for told in (html, markdown, pdf))
    if language != "en":
        assert "运行报告" in pdf


def test_chinese_words_of_members_are_on_paper(alice: Any) -> None:
    record = council(alice)
    record.run.messages.filter(seat="member-1", step__purpose="reply").update(raw_text="天空是蓝色的，因为散射。")

    assert "天空是蓝色的，因为散射。" in text_of(read(render_pdf(record.fetched(), "zh-hans")))


def test_names_take_the_place_of_whole_labels_alone() -> None:
    labels = {**LABELS["member-1"], "Response AA": "member-3"}

    named = with_names("**Response A**, Response AA, Response Analysis, `Response B`\n```\nResponse A\n```", labels)

    assert named == "**Member 2**, **Member 3**, Response Analysis, `Response B`\n```\nResponse A\n```"


def test_a_run_under_way_is_told_so_far(alice: Any) -> None:
    record = council(alice, state="running", ended=None)
    Run.objects.filter(pk=record.run.pk).update(stop_reason="")

    assert "had not ended" in words(render_html(record.fetched(), "en"))
