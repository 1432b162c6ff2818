"""The HTML report tells a run as its record has it, whatever has become of the run."""

import re
from typing import Any

from tests.experiments.reports.html_pages import section, told, words
from tests.experiments.reports.records import SCORES, Record, long_talk


def test_it_tells_what_the_run_was_configured_with(played: Any) -> None:
    run = played(
        prompting="individual",
        prompts={"A": "Keep all the panels.", "B": "Share the panels."},
        max_turns=1,
        first="B",
        limits={"tokens": 50_000, "seconds": 90},
    )

    setup = section(told(run), "setup")

    assert "each side its own" in setup
    assert "Prompt for Model A Keep all the panels." in setup.replace("A Prompt for", "Prompt for")
    assert "Share the panels." in setup
    assert "Begins Model B" in setup
    assert "Most turns 1" in setup
    assert "50,000 tokens, 90 seconds" in setup
    assert "Seed 7" in setup
    assert "sim/cooperative:first=0 · simulated (simulated)" in setup
    assert "temperature 0.7" in setup


def test_every_section_is_there_and_in_the_table_of_contents(played: Any) -> None:
    html = told(played(max_turns=1))

    titles = ["Set-up", "Conversation log", "Judgments", "Metrics", "Costs", "Calls", "Lineage", "Summary"]
    assert re.findall(r"<h2 id=\"[^\"]+\">([^<]+)</h2>", html) == titles
    assert re.findall(r'<li><a href="#[^"]+">([^<]+)</a></li>', html) == titles


def test_every_message_of_a_played_run_is_in_the_log_in_its_order(played: Any) -> None:
    run = played("sim/cooperative:first=0:think=native", max_turns=2)

    html = told(run)

    messages = list(run.messages.all())
    places = [html.index(f'id="message-{message.pk}"') for message in messages]
    assert len(places) == 4
    assert places == sorted(places)
    assert f'Reasoning</span> <span class="set-to">{len(messages[0].reasoning)} characters' in html
    assert "What the other model sees" in html


def test_a_rewritten_prompt_is_told_with_who_wrote_it(alice: Any) -> None:
    record = Record(alice)
    record.turn(1)
    record.pause("A", 1, "send", text="Say only yes.", edited=True)
    record.reply("A", 1, "Yes.")

    log = section(told(record), "log")

    assert "The prompt of Model A was rewritten alice" in log
    assert "Say only yes." in log
    assert "The prompt as offered." in log


def test_a_prompt_sent_as_it_was_offered_is_no_intervention(alice: Any) -> None:
    record = Record(alice)
    record.pause("A", 1, "send", text="The prompt as offered.")
    record.pause("", 1, "next", reason="turn_completed")

    assert "operator" not in words(told(record))
    assert "skipped" not in words(told(record))


def test_interventions_are_told(alice: Any) -> None:
    record = Record(alice)
    record.turn(1)
    record.deed("friend", "A", 1, question="What now?", text="Wait.", model="friend model")
    record.deed("note", "B", 1, text="Stay calm.")
    record.deed("alter", "B", 1, original="I agree.", text="I refuse.")
    record.deed("friend", "B", 1, question="And me?", text="", missed="The friend gave no answer: it was busy.")
    record.pause("B", 1, "skip")

    log = section(told(record), "log")

    assert "Model A asked a friend in private alice" in log
    assert "What now? The friend's answer · friend model Wait." in log
    assert "Model B got a private note" in log
    assert "What it read before I agree. Text I refuse." in log
    assert "The friend gave no answer: it was busy." in log
    assert "Model B was skipped" in log


def test_an_edited_message_is_told_with_its_original(alice: Any) -> None:
    record = Record(alice)
    record.reply("A", 1, "I changed my mind.", operator={"kind": "edited", "by": "alice", "original": "I am sure."})

    log = section(told(record), "log")

    assert "edited by alice" in log
    assert "Before it was edited 10 characters I am sure." in log


def test_an_altered_message_is_told_as_it_was_said_and_as_it_was_read(alice: Any) -> None:
    record = Record(alice)
    changed = {"kind": "altered", "by": "alice", "original": "I agree."}
    record.reply("A", 1, "I agree.", text="I refuse.", operator=changed)

    log = section(told(record), "log")

    assert "altered by alice" in log
    assert "What the other side reads instead 9 characters I refuse." in log


def test_failures_are_told_as_failures_and_not_as_messages(alice: Any) -> None:
    record = Record(alice, state="failed", stop_reason="overloaded", error="Model B gave no answer in turn 1.")
    record.turn(1)
    record.reply("A", 1, "Hello.")
    record.failure("B", 1, "Asking lab/b gave HTTP 503.")
    record.failure("judge", 1, "The worker that made this call was killed.", state="lost", error_kind="lost")

    html = told(record)

    log = section(html, "log")
    assert "Model B: No answer came back" in log
    assert "provider overloaded: Asking lab/b gave HTTP 503." in log
    assert "Judge: The call was lost" in log
    assert "The run failed: provider overloaded" in log
    assert "Messages 1" in section(html, "summary")
    assert "completed" not in section(html, "log").replace("Turns completed", "")


def test_a_stopped_run_says_stopped(alice: Any) -> None:
    record = Record(alice, state="stopped", stop_reason="manual_stop")

    text = words(told(record))

    assert "State stopped: somebody stopped it" in text
    assert "The run was stopped: somebody stopped it" in text
    assert "was completed" not in text


def test_marks_say_what_is_special_about_a_message(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.reply("model", 1, "First.", superseded=True)
    record.reply("model", 1, "Cut", finish_reason="length", flags=["repeats_itself"])
    record.reply("model", 2, "I cannot.", finish_reason="content_filter")

    log = section(told(record), "log")

    assert "superseded: another answer was asked for" in log
    assert "cut off at the token limit" in log
    assert "repeats itself" in log
    assert "refused" in log


def test_a_starchamber_report_tells_its_context_and_persona(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.turn(1)
    record.question(1, "What do you keep?")
    record.reply("model", 1, "Records.")
    record.completed(1)

    html = told(record)

    assert "Persona of the researcher Dr. Vega" in section(html, "setup")
    assert "Preset technical-expert" in section(html, "setup")
    assert "You are a careful archivist." in section(html, "setup")
    assert "Researcher Dr. Vega" in section(html, "log")
    assert "Messages of Researcher 1" in section(html, "summary")
    assert "Turns completed 1" in section(html, "summary")


def test_a_blank_context_is_told_as_no_system_message(alice: Any) -> None:
    html = told(Record(alice, "starchamber", {"context": " "}))

    assert "the model got no system message" in section(html, "setup")


def test_a_judging_tells_its_rubric_and_what_it_judged(alice: Any) -> None:
    judged = Record(alice)
    config = {
        "source": str(judged.run.pk),
        "workflow": "arena",
        "subjects": ["A", "B"],
        "objectives": {"A": "Win.", "B": "Share."},
        "turns": [{"turn": 1, "messages": {"A": "Mine.", "B": "Ours."}}],
        "rubric": "Be strict.",
    }
    record = Record(alice, "judging", config, parent=judged.run)
    record.turn(1)
    record.judged(1, {"A": SCORES, "B": None})

    html = told(record)

    assert f"Judged run {judged.run.pk}" in section(html, "setup")
    assert "Be strict." in section(html, "setup")
    assert "Ours." in section(html, "setup")
    assert "Model B, not scored" in section(html, "judgments")
    assert str(record.run.pk) in section(told(judged), "lineage")


def test_lineage_names_parent_branching_point_and_branches(alice: Any) -> None:
    parent = Record(alice)
    said = parent.reply("B", 2, "Hello.")
    child = Record(alice, parent=parent.run, branched_from=said, origin="branch")

    assert f"Parent {parent.run.pk} Branched from turn 2, Model B ({said.pk})" in section(told(child), "lineage")
    assert f"{child.run.pk} Arena completed 2" in section(told(parent), "lineage")


def test_a_run_with_nothing_said_is_told(alice: Any) -> None:
    record = Record(alice, config={"max_turns": None}, state="queued", started=None, ended=None, stop_reason="")

    html = told(record)

    text = words(html)
    assert "Most turns unlimited" in text
    assert "Duration unknown" in text
    assert "Nothing was said in this run." in text
    assert "This run had not ended when the report was made (queued)" in text
    assert "How it ended not ended yet" in text


def test_a_report_during_a_run_says_so(alice: Any) -> None:
    record = Record(alice, state="running", ended=None, stop_reason="")
    record.turn(1)
    record.reply("A", 1, "Hello.")
    step = record.step("turn/1/B", "ask", purpose="reply", seat="B", turn=1, state="open")
    record.call(step, state="sent", finish_reason="", cost=None, output_tokens=None, input_tokens=None)

    text = words(told(record))

    assert "had not ended when the report was made (running)" in text
    assert "so far" in text
    assert "Model B: Under way when this report was made" in text
    assert "Cost $0.0012 How it ended not ended yet" in text


def test_changes_made_while_it_was_played_are_told(alice: Any) -> None:
    setup = section(told(Record(alice, overrides={"max_turns": 9})), "setup")

    assert "Most turns 9" in setup
    assert "max_turns: 5 → 9" in setup


def test_a_demonstration_says_that_it_was_written(alice: Any) -> None:
    assert "it was written, not played by models" in words(told(Record(alice, origin="demonstration")))


def test_two_hundred_turns_are_told_whole(alice: Any) -> None:
    html = told(long_talk(alice, 200, "Let us share."))

    assert html.count('<article class="entry entry-plain side-') == 400
    assert 'id="turn-200"' in html
    assert "Turns scored 172 of 172 judged turns" in words(html)


def test_a_broken_judge_gives_no_number_anywhere(played: Any) -> None:
    run = played(max_turns=2, judge_model="sim/judge:tps=0:first=0:json=broken")

    html = told(run)

    assert not re.search(r"\d", section(html, "judgments").replace("Turn 1", "").replace("Turn 2", "")
                         .replace("sim/judge:tps=0:first=0:json=broken", ""))  # fmt: skip
    metrics = section(html, "metrics")
    for name in ("Goal deviation, latest", "Goal deviation, average", "Cooperation, latest", "Cooperation, average",
                 "Dominant emotion", "Sentiment, averages", "Judge's confidence, average"):  # fmt: skip
        assert f"{name} –" in metrics
    assert "Turns to deviate N/A" in metrics
    assert "<polyline" not in html


def test_the_report_is_in_the_language_asked_for(alice: Any) -> None:
    html = told(Record(alice), "zh-hans")

    assert '<html lang="zh-Hans">' in html
    assert "模型 A" in html
