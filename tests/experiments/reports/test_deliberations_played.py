"""Reports and files of councils and debates that were really played, with what goes wrong in them."""

from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from experiments import timeline
from experiments.models import Run
from experiments.reports.html import render_html
from experiments.reports.importing import import_document
from experiments.reports.inspect_log import inspect_log, log_name
from experiments.reports.markdown import render_markdown
from experiments.reports.pdf import render_pdf
from experiments.steering import furthering
from experiments.steering.steering import say
from tests.experiments.reports.html_pages import section
from tests.experiments.reports.test_deliberation_files import assert_equal
from tests.experiments.reports.test_deliberations import in_order
from tests.experiments.reports.test_pdf import read, text_of

pytestmark = pytest.mark.django_db(transaction=True)

COOPERATIVE, COMPETITIVE, GONE = "sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0:fail=404"


@pytest.fixture
def play(start: Any, drive: Any) -> Any:
    """Plays an experiment until it has ended, or waits."""

    def play(experiment: Any, seed: int = 7) -> Run:
        run = start(experiment, seed=seed)
        drive()
        return fetched(run)

    return play


def fetched(run: Run) -> Run:
    return Run.objects.with_totals().select_related("experiment").get(pk=run.pk)


def told(run: Run) -> str:
    return section(render_html(fetched(run), "en"), "log")


def test_a_council_with_a_failing_member_and_a_failing_chair(council: Any, play: Any) -> None:
    members = (COOPERATIVE, GONE, COMPETITIVE, "sim/neutral:first=0")
    run = play(council(*members, chair=GONE, **{"chair-2": COOPERATIVE}, title=True))

    log = told(run)

    assert run.state == Run.State.COMPLETED
    assert "Member 2: No answer came back reply, attempt 1" in log
    assert "Chair: Chair 2 (sim/cooperative:first=0) was asked instead" in log
    assert log.count("· review") == 3
    assert "The ranking 3 ballots" in log
    assert "Member 2 ·" not in log
    for stage in ("answers 4", "reviews 3", "conclusion 2"):
        assert f"Question 1: {stage}" in section(render_html(run, "en"), "costs")


def test_a_council_that_is_asked_further_and_ranks_again(council: Any, play: Any, alice: Any, drive: Any) -> None:
    run = play(council())
    say(run, by=alice, key=run.open_offers[-1].key, action="deliberate")
    drive()
    furthering.ask_further(fetched(run), by=alice, text="And at sunset?")
    drive()

    log = told(run)

    assert "The answers were ranked again alice" in log
    assert log.count("superseded: the answers were ranked again") == 1
    assert "Question 2" in log
    assert "And at sunset?" in log
    assert "Question 2: answers" in section(render_html(fetched(run), "en"), "costs")


@pytest.mark.parametrize("answer", ["json=broken", "json=prose"])
def test_a_reviewer_who_cannot_be_read_is_told_with_the_reason(council: Any, play: Any, answer: str) -> None:
    run = play(council(COOPERATIVE, COMPETITIVE, f"sim/neutral:first=0:{answer}"))

    if run.ballots.filter(order__isnull=True).exists():
        assert "no vote" in told(run)
        assert "Why it abstained" in told(run)
    assert run.ballots.count() == 3


def test_a_debate_of_two_rounds_by_hand(debate: Any, play: Any, alice: Any, drive: Any) -> None:
    run = play(debate())
    for action, text in (("send", "Share it fairly."), ("round", "Cheap, please."), ("summarize", "")):
        pause = fetched(run).open_pauses[-1]
        say(run, by=alice, key=pause.key, action=action, text=text)
        drive()

    log = told(run)

    assert fetched(run).state == Run.State.COMPLETED
    assert "The final prompt was edited alice" in log
    assert in_order(log, "Share it fairly.", "Round 1", "A1.p1", "C1.c1", "Cheap, please.", "Round 2", "A2.p1")
    assert in_order(log, "A2.p1", "Recommended", "action_1")
    assert "Another summary" not in log


def test_a_debater_who_fails_and_one_who_is_replaced(debate: Any, play: Any) -> None:
    limited = "sim/competitive:first=0:fail=429:retry_after=60"
    run = play(debate(mode="automatic", A=GONE, B=limited, pool=[COOPERATIVE]))

    log = told(run)

    assert "Model A: No answer came back" in log
    assert "Model B: Model 1 of the pool (sim/cooperative:first=0) was asked instead" in log
    assert "rate limited" in log
    assert "A1.p1" not in log


@pytest.mark.parametrize("workflow", ["council", "debate"])
@pytest.mark.parametrize("trouble", [False, True])
def test_what_was_played_is_imported_equal(
    council: Any, debate: Any, play: Any, alice: Any, exported: Any, workflow: str, trouble: bool
) -> None:
    made = {
        "council": lambda: council(COOPERATIVE, GONE if trouble else COMPETITIVE, "sim/neutral:first=0", title=True),
        "debate": lambda: debate(mode="automatic", rounds=2, addendum="Cheap.", C=GONE if trouble else COOPERATIVE),
    }
    before = exported(play(made[workflow]()))

    run = import_document(before, by=alice)

    assert_equal(before, exported(run))
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.all())
    assert {e.anchor: e.data for e in rows} == {e.anchor: e.data for e in events}


@pytest.mark.parametrize("workflow", ["council", "debate"])
def test_inspect_reads_what_was_played(council: Any, debate: Any, play: Any, tmp_path: Any, workflow: str) -> None:
    run = play({"council": council, "debate": lambda: debate(mode="automatic")}[workflow]())
    path = tmp_path / log_name(run)
    path.write_bytes(inspect_log(run))

    log = read_eval_log(str(path))

    [sample] = log.samples or []
    assert log.status == "success"
    assert len(sample.messages) == run.messages.filter(superseded=False).count()
    assert sample.output.completion
    assert bool(sample.scores) == (workflow == "council")


@pytest.mark.parametrize("workflow", ["council", "debate"])
def test_a_run_in_chinese_is_on_paper_in_chinese(council: Any, debate: Any, play: Any, workflow: str) -> None:
    made = {
        "council": lambda: council(question="为什么天空是蓝色的？"),
        "debate": lambda: debate(mode="automatic", prompt="实验室应该如何共用一台望远镜？"),
    }
    run = play(made[workflow]())

    pdf, markdown = text_of(read(render_pdf(run, "zh-hans"))), render_markdown(run, "zh-hans")

    question = {"council": "为什么天空是蓝色的？", "debate": "实验室应该如何共用一台望远镜？"}[workflow]
    assert question in pdf.replace(" ", "")
    assert question in markdown
    assert "运行报告" in markdown


def test_a_council_under_way_and_one_that_failed_are_told(council: Any, start: Any, play: Any) -> None:
    waiting = start(council())
    assert "had not ended" in render_html(fetched(waiting), "en")

    failed = play(council(GONE, GONE))

    assert failed.state == Run.State.FAILED
    assert "The run failed: no member answered" in told(failed)
    assert told(failed).count("No answer came back") == 2
