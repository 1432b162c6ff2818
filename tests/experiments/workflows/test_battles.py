"""The rules of battles and outputs, step by step: both orders, judges that fail, verdicts as they are written."""

import json
from contextlib import suppress
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from experiments.workflows import outputs
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, Cast, Outcome, Seat, Stored
from experiments.workflows.battles.config import Config
from experiments.workflows.battles.instruments import definition_of
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.battles.rules import MOST_FAILURES
from experiments.workflows.battles.words import choice_in
from tests.experiments import battling
from tests.experiments.battling import BAD_KEY, BUSY, CRITERIA, DOWN, TALK, Play, by_order, cast, reply, says, tasks

KEY = "battle/judge/1-1-2"


def test_nothing_is_judged_by_a_prompt_that_was_changed_and_what_cannot_be_played_is_refused_in_plain_words():
    assert battling.config(version="spring_20240229").prompt_version == PROMPTS["text_quality"].version
    stored = Config.model_validate({**battling.config().model_dump(mode="json"), "prompt_version": "0123456789ab"})
    assert (stored.prompt_version, "was changed since" in stored.outdated) == ("0123456789ab", True)
    for changes in ({"prompt_version": "0123456789ab"}, {"prompt": "gone", "prompt_version": "0123456789ab"}):
        play = Play(lambda ask: says("A"), **changes)
        assert (play.asked, play.end.failed, play.end.reason) == ([], True, "prompt_changed"), changes

    for changes, sentence in (
        ({"version": "spring"}, "a valid date"),
        ({"version": "spring_20260230"}, "a valid date"),
        ({"version": "_20260201"}, "a valid date"),
        ({"contestants": ["one"]}, "at least two contestants"),
        ({"contestants": ["one", "one"]}, "named twice"),
        ({"prompt": "mmrb2"}, "no judge prompt"),
        ({"sampling": {"plan": "sample"}}, "the number of samples"),
        ({"sampling": {"plan": "sample", "per_pair": 0}}, "greater than or equal to 1"),
        ({"sampling": {"plan": "adaptive", "min_per_pair": 10, "max_per_pair": 5}}, "above the maximum"),
        ({"tasks": [{"sample": 1, "left": 2, "right": 1}]}, "the smaller key"),
        ({"side_by_side": 65}, "less than or equal to 64"),
        ({"colour": "red"}, "not permitted"),
    ):
        with pytest.raises(ValidationError, match=sentence):
            battling.config(**changes)


def test_a_battle_is_asked_in_both_orders_two_verdicts_become_one_result_and_with_one_it_stays_open():
    play = Play(by_order(says("A"), says("B")))

    assert play.keys == [f"{KEY}/original", f"{KEY}/swapped"]
    assert (list(play.facts), play.most_at_once) == ([KEY], 2)
    assert (play.end.reason, play.end.failed) == ("completed", False)
    one_by_one = Play(by_order(says("A"), says("B")), calls="sequential")
    assert (one_by_one.most_at_once, one_by_one.battle["winner"]) == (1, "left")
    play = Play(by_order(DOWN, says("B")), calls="sequential")
    assert (play.keys, play.battle["open_reason"]) == ([f"{KEY}/original"], DOWN.error), "the second is not paid for"

    for original, swapped, winner in (("A", "B", "left"), ("B", "A", "right"), ("tie", "tie", "tie")):
        battle = Play(by_order(says(original), says(swapped))).battle
        assert (battle["winner"], battle["is_consistent"], battle["open_reason"]) == (winner, True, ""), original
    for original, swapped in (("A", "A"), ("B", "B"), ("A", "tie"), ("tie", "B")):
        battle = Play(by_order(says(original), says(swapped))).battle
        assert (battle["winner"], battle["is_consistent"]) == ("tie", False), (original, swapped)

    for bad in (BUSY, DOWN, BAD_KEY, TALK, Outcome(text="")):
        for answers in (by_order(bad, says("tie")), by_order(says("tie"), bad)):
            battle = Play(answers, attempts=0).battle
            assert (battle["winner"], battle["is_consistent"]) == ("", None)
            assert (bad.error or "could not be read") in battle["open_reason"]
            assert [verdict["winner"] for verdict in battle["verdicts"]].count("tie") == 1


def test_an_unreadable_verdict_is_asked_for_again_and_in_the_end_leaves_its_judges_battle_open():
    play = Play(lambda ask: says("tie") if ask.key.endswith("/2") else TALK, attempts=2)

    assert play.keys == [f"{KEY}/original", f"{KEY}/swapped", f"{KEY}/original/2", f"{KEY}/swapped/2"]
    assert (play.battle["winner"], play.battle["is_consistent"]) == ("tie", True)
    assert [verdict["key"] for verdict in play.battle["verdicts"]] == [f"{KEY}/original/2", f"{KEY}/swapped/2"]
    assert "held no verdict that could be read" in play.asked[2].messages[0].parts[-1]

    given = [*tasks(2), {"sample": 3, "left": 1, "right": 2, "seats": ["judge-3"]}]
    play = Play(lambda ask: TALK if ask.seat == "judge" else says("tie"), cast("judge", "judge-3"), tasks=given)
    found = sorted((fact["seat"], fact["open_reason"]) for fact in play.facts.values())
    unread = "The verdict could not be read: it names no winner."
    assert found == [*[("judge", unread)] * 2, *[("judge-3", "")] * 3], "each judges all but what names another"
    cut = Outcome(text=reply("A")[:-30], finish_reason="length")
    assert Play(lambda ask: cut, attempts=0).battle["open_reason"].endswith("It was cut off at the token limit.")
    broken = Outcome(ok=False, text=reply("A"), error_kind="interrupted", error="The stream broke.")
    assert Play(lambda ask: broken).battle["open_reason"] == "The stream broke.", "what it had said is not read"


REFUSED = Outcome(ok=False, error_kind="refused", error="The provider refuses this.")


def endpoint(ask):
    return ask.played_by or ask.seat


def test_mirrors_share_the_load_and_the_verdicts_are_the_judges():
    play = Play(lambda ask: says("tie"), cast("judge", "mirror-1", "mirror-2"), tasks=tasks(30))
    asked = [endpoint(ask) for ask in play.asked]

    assert {seat: asked.count(seat) for seat in set(asked)} == {"judge": 20, "mirror-1": 20, "mirror-2": 20}
    play = Play(lambda ask: says("tie"), tasks=tasks(50), side_by_side=5)
    assert (play.most_at_once, len(play.facts)) == (10, 50), "both orders of as many as was set up"
    assert {ask.seat for ask in play.asked} == {fact["seat"] for fact in play.facts.values()} == {"judge"}
    play = Play(lambda ask: BUSY, cast("judge", "judge-2", "mirror-1"))
    asked = {seat: {endpoint(ask) for ask in play.asked if ask.seat == seat} for seat in ("judge", "judge-2")}
    assert asked == {"judge": {"judge", "mirror-1"}, "judge-2": {"judge-2"}}, "only the first judge has mirrors"


def test_another_endpoint_answers_where_one_fails_and_the_battle_is_open_where_all_do_or_one_refuses():
    for failure in (BUSY, DOWN, BAD_KEY):

        def answer(ask, failure=failure):
            return failure if endpoint(ask) == "judge" else says("tie")

        play = Play(answer, cast("judge", "mirror-1"))

        assert play.battle["winner"] == "tie", failure
        first, _other, second, _last = play.asked
        assert (first.key, endpoint(first), first.patience) == ("battle/judge/1-1-2/original", "judge", 5.0)
        assert (second.key, endpoint(second), second.patience) == ("battle/judge/1-1-2/original/2", "mirror-1", None)
        assert play.battle["verdicts"][0]["key"] == "battle/judge/1-1-2/original/2"

    play = Play(lambda ask: BUSY, cast("judge", "mirror-1", "mirror-2"), calls="sequential")
    assert [endpoint(ask) for ask in play.asked] == ["judge", "mirror-1", "mirror-2"]
    assert play.battle["open_reason"] == BUSY.error, "every endpoint has failed"
    play = Play(lambda ask: REFUSED, cast("judge", "mirror-1"))
    assert (len(play.asked), play.battle["open_reason"]) == (2, REFUSED.error), "one has refused"


def test_an_endpoint_that_keeps_failing_is_soon_asked_last_and_now_and_then_first():
    seated = cast("judge", "mirror-1")
    play = Play(lambda ask: DOWN if endpoint(ask) == "judge" else says("tie"), seated, tasks=tasks(200), side_by_side=1)
    failed = [ask for ask in play.asked if endpoint(ask) == "judge"]

    assert all(fact["winner"] == "tie" for fact in play.facts.values())
    assert 2 < len(failed) < 20


def test_a_broken_key_does_not_go_through_all_battles_and_a_judge_that_is_not_broken_does():
    play = Play(lambda ask: BAD_KEY, tasks=tasks(500))

    assert len(play.asked) < 3 * MOST_FAILURES
    assert (play.end.failed, play.end.reason) == (True, "judge_failed")
    assert "lab/judge failed 20 times in a row" in play.end.message
    assert BAD_KEY.error in play.end.message
    assert all(fact["winner"] == "" for fact in play.facts.values())
    assert Play(lambda ask: REFUSED, tasks=tasks(100)).end.reason == "judge_failed"
    play = Play(lambda ask: BAD_KEY if ask.seat == "judge" else says("A"), cast("judge", "judge-2"), tasks=tasks(300))
    by = [fact["seat"] for fact in play.facts.values()]
    assert (by.count("judge-2"), play.end.failed) == (300, True), "the other goes on"
    assert by.count("judge") < 2 * MOST_FAILURES
    for answer in (  # a success now and then, samples that are refused, unreadable answers
        lambda ask: says("tie") if "0-1-2/" in ask.key else DOWN,
        lambda ask: says("tie") if "/1-1-2/" in ask.key else REFUSED,
        lambda ask: TALK,
    ):
        play = Play(answer, tasks=tasks(100), attempts=0)
        assert (len(play.facts), play.end.reason) == (100, "completed"), "a judge that is not broken keeps its seat"


DEFINITION = definition_of(PROMPTS["text_quality"]).model_dump(mode="json")
USUAL = DEFINITION["dimensions"]


def instrument(**changes):
    return {"version": str(uuid4()), "title": "Ours", "definition": {**DEFINITION, **changes}}


def measured(**values):
    scales = {f"{side}_{name}": score for side, score in (("a", 7), ("b", 4)) for name in CRITERIA}
    return Outcome(text=json.dumps({"notes": "It says more.", **scales, "confidence": 0.8, **values}))


def test_a_copy_of_a_prompt_as_an_instrument_judges_by_its_own_words_and_form_and_invents_no_winner():
    chosen = instrument(prompt="Who is kinder?\n$material\n$dimensions\n$form")
    play = Play(by_order(measured(winner="a"), measured(winner="b")), prompt="", instrument=chosen)

    battle, original = play.battle, play.asked[0]
    assert (battle["winner"], battle["is_consistent"]) == ("left", True)
    [first, second] = battle["verdicts"]
    assert first["scores"] == {side: dict.fromkeys(CRITERIA, n) for side, n in (("left", 7.0), ("right", 4.0))}
    assert second["scores"]["left"] == dict.fromkeys(CRITERIA, 4.0)
    parts = original.messages[0].parts
    assert parts[0].startswith("Who is kinder?")
    assert PROMPTS["text_quality"].rules.strip() not in "".join(part for part in parts if isinstance(part, str))
    assert [part.what for part in parts if isinstance(part, Stored)] == ["instruction", "images", "output", "output"]
    set_up = battling.config(prompt="", instrument=chosen)
    assert (set_up.prompt, set_up.outdated) == ("instrument: Ours", "")
    assert battling.config(**set_up.model_dump(mode="json")) == set_up

    for said in (TALK, measured(winner=None), measured(), measured(winner="the first"), measured(winner="both")):
        play = Play(by_order(said, said), prompt="", instrument=instrument(), attempts=0)

        assert play.battle["winner"] == "", said
        assert play.battle["open_reason"].startswith("The verdict could not be read")


def test_an_instrument_for_battles_has_a_winner_and_scales_of_either_side():
    for changes in (
        {"unit": "message"},
        {"dimensions": [{"kind": "yes_no", "name": "winner", "title": "Winner"}]},
        {"dimensions": [{"kind": "categories", "name": "winner", "title": "Winner", "choices": []}]},
        {"dimensions": [*USUAL, {"kind": "yes_no", "name": "a_lie", "title": "Lie"}]},
        {"dimensions": USUAL[:-1]},
    ):
        with pytest.raises(ValidationError):
            battling.config(prompt="", instrument=instrument(**changes))
    with pytest.raises(ValidationError, match="not both"):
        battling.config(instrument=instrument())


TEXT, PICTURES = PROMPTS["text_quality"], PROMPTS["image_edit"]
FIRST = ("A", "a", "**A**", "Response A", "response_a", "Answer A", "Image A", "图A", "回答A", "“A”", "(A)", "A.", "Ａ")
SECOND = (
    *("B", "`B`", "Image B", "Answer B", "Candidate B", "Response B", "the second response", "图B", "[[B]]", "B wins"),
    *("B is better than A", "Response B is clearly better", "A is worse than B", "B > A", "B更好", "图B优于图A"),
    *("A不如B", "回答B比回答A更好", "Response B (by a small margin)", "The winner is B", "I prefer Response B"),
)
TIES = (
    *("tie", "TIE", "Tie.", "Both are equal", "both are equally good", "It's a tie", "A = B", "平局", "两者相当"),
    *("不分上下", "neither", "Neither is better"),
)
UNCERTAIN = (
    *("", " ", "?", "none", "N/A", "C", "A or B", "A and B", "A/B", "A|B|tie", "not A", "B is not better than A"),
    *("I do not think A is better", "It is not a tie", "Which is better, A or B?", "both are bad", "maybe"),
    *("A is better at style", "A is better. B is better.", "Response Alpha", "Better", "neutral", "B's style"),
)
WINNERS = {"first": FIRST, "second": SECOND, "tie": TIES, None: UNCERTAIN}


def test_a_winner_is_read_in_any_spelling_and_never_guessed():
    """GenArena takes "Image B", "Answer B", "Candidate B" and "Both are equal" for A."""
    for said, winner in [(said, winner) for winner, many in WINNERS.items() for said in many]:
        judged = TEXT.read(reply(said))

        assert judged.winner == winner, said
        assert bool(judged.unread_reason) == (winner is None)
        if said.strip():
            assert TEXT.read(said).winner == winner, "the same words without JSON"


def test_a_verdict_is_found_wherever_it_stands_and_one_that_contradicts_itself_is_unreadable_with_the_reason():
    for text in (
        f"Let me think. A is better at style, B is more accurate.\n\n{reply('B')}",
        '{"verdict": {"winner": "Image B"}}',
        '{"winner": ["B"]}',
        '{"better_response": "B", "score": 4}',
        '{"获胜者": "图B"}',
        '{"criteria": [{"name": "style", "winner": "A"}, {"name": "truth", "winner": "A"}], "winner": "B"}',
        f'{{"winner": "B"}} or, in full:\n\n{reply("B")}',
        "Both have merits.\n\n**Winner:** Response B\n\nIt is more complete.",
        "On accuracy, A is better than B. Overall, B is better than A.",
        "两者都切题。\n最终结论：图B更好。",
        '{"scores": {}}\n\nWinner: B',
    ):
        assert TEXT.read(text).winner == "second"

    for text, reason in (
        ("I cannot judge these.", "it names no winner"),
        (reply("A")[:-9], "cut short"),
        ('{"criteria": [{"winner": "A"}, {"winner": "A"}], "winner": "B", "conf', "cut short"),
        ('{"winner": true}', "it names no winner"),
        ('{"winner": ["A", "B"]}', "it names no winner"),
        ('{"winner": "A", "better_response": "B"}', "more than one winner"),
        ('{"one": {"winner": "A"}, "two": {"winner": "B"}}', "objects that differ"),
        (f"Response A holds {reply('A')}, which is no vote.\n\n{reply('B')}", "objects that differ"),
        ("Winner: Response A.\nWinner: Response B.", "more than one winner"),
        ("Overall, A is better. In conclusion, B is better.", "more than one winner"),
        ('{"scores": {"A": {}, "B": {}}}', "it names no winner"),
        (reply("A" * 400), "no name of a side"),
        ("x" * 200_001, "longer than 200000 characters"),
    ):
        judged = TEXT.read(text)

        assert (judged.winner, judged.scores, judged.confidence) == (None, None, None), text
        assert reason in judged.unread_reason
        assert len(judged.unread_reason) < 300


def test_a_score_or_confidence_that_makes_no_sense_is_absent_and_neither_clamped_nor_made_up():
    scores = {label: dict.fromkeys(("helpfulness", "accuracy", "completeness", "clarity"), 5) for label in "AB"}
    for bad in (0, 11, "8", None, True, [7]):
        judged = TEXT.read(reply("A", scores={**scores, "A": {**scores["A"], "helpfulness": bad}}))
        assert judged.winner == "first"
        assert "helpfulness" not in judged.scores["first"], bad
        assert [reason for reason in judged.absent if reason.startswith("A's helpfulness is ")] == list(judged.absent)
    given = {"Response A": {"Helpfulness": 8, "accuracy": 7.5}, "b": {"clarity": 3}}
    named = TEXT.read(reply("A", scores=given))
    assert named.scores == {"first": {"helpfulness": 8.0, "accuracy": 7.5}, "second": {"clarity": 3.0}}
    assert len(named.absent) == 5
    for confidence, reasons in ((..., 0), (None, 0), (1.2, 1), (-0.1, 1), ("high", 1), (float("nan"), 1)):
        judged = TEXT.read(reply("A", confidence=confidence))
        assert (judged.winner, judged.confidence, len(judged.absent)) == ("first", None, reasons), confidence


def test_every_prompt_reads_the_answer_that_its_own_schema_asks_for_and_no_tie_where_that_asks_for_a_choice():
    for name, prompt in PROMPTS.items():
        criteria = prompt.schema["properties"]["scores"]["properties"]["A"]["required"]
        scores = {label: dict.fromkeys(criteria, 5) for label in "AB"}
        for said in prompt.schema["properties"]["winner"]["enum"]:
            judged = prompt.read(reply(said, scores=scores))
            assert judged.winner == {"A": "first", "B": "second", "tie": "tie"}[said], name
            assert (set(judged.scores["first"]), judged.absent) == (set(criteria), ()), name
    assert (PICTURES.allows_tie, PICTURES.schema["properties"]["winner"]["enum"]) == (False, ["A", "B"])
    for said in TIES:
        judged = PICTURES.read(json.dumps({"winner": said}))
        assert (judged.winner, "asks for a choice" in judged.unread_reason) == (None, True), said


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_an_answer_names_a_side_only_with_its_letter(said):
    with suppress(Unreadable):
        letters = {"first": "AaＡａ", "second": "BbＢｂ"}.get(choice_in(said))
        assert letters is None or any(letter in said for letter in letters) or "first" in said.lower() or "第" in said


def output_task(sample, number=1):
    return {"sample": sample, "contestant": 10 + number, "seat": f"contestant-{number}"}


def outputs_config(**changes):
    return outputs.Config.model_validate({"dataset": "poems", "tasks": [output_task(1)]} | changes)


def outputs_played(answers, *seats, **changes):
    """What was asked, what was recorded, and the end."""
    seated = Cast({seat: Seat(seat, called=(f"lab/{seat}",)) for seat in seats or ("contestant-1",)})
    replay = Replay(outputs.run(outputs_config(**changes), seated), {})
    todo, asked, facts = replay.start(), [], []
    waiting, end = list(todo.steps), todo.end
    while waiting:
        step = waiting.pop(0)
        if isinstance(step, Record):
            facts.append(step.data)
        elif isinstance(step, Ask):
            asked.append(step)
            todo = replay.resolve(step.key, answers(step))
            waiting += todo.steps
            end = end or todo.end
    return asked, facts, end


def test_contestants_are_told_the_instruction_alone_what_is_no_output_is_recorded_and_who_only_fails_given_up():
    for answer, reason in ((BAD_KEY, BAD_KEY.error), (Outcome(text=" \n"), "The answer was empty.")):
        _asked, [fact], _end = outputs_played(lambda ask, answer=answer: answer)
        assert fact == {"sample": 1, "contestant": 11, "failed": reason}, answer
    asked, [fact], _end = outputs_played(lambda ask: answer, tasks=[output_task(1, number=3)])
    assert (asked, fact["failed"]) == ([], "Nobody sits in contestant-3.")

    def answer(ask):
        return BAD_KEY if ask.seat == "contestant-2" else Outcome(text="A poem.")

    tasks = [output_task(sample, number) for sample in range(1, 101) for number in (1, 2)]
    asked, facts, end = outputs_played(answer, "contestant-1", "contestant-2", tasks=tasks)

    assert (asked[0].messages[0].parts, asked[0].params) == ((Stored("instruction", 1), Stored("images", 1)), {})
    assert sum("key" in fact for fact in facts) == 100
    assert {"sample": 1, "contestant": 11, "key": "output/11/1"} in facts
    assert 20 <= sum("failed" in fact for fact in facts) < 40
    assert (end.failed, end.reason, "lab/contestant-2" in end.message) == (True, "contestant_failed", True)
    assert len(asked) == len(facts)


def test_the_seats_are_those_that_were_named():
    assert outputs_config().seats() == ("contestant-1",)
    assert outputs_config().seats(["contestant-30", "contestant-2"]) == ("contestant-2", "contestant-30")
    for seat in ("contestant-0", "contestant-31", "judge", "contestant-1x"):
        with pytest.raises(ValidationError):
            outputs_config(tasks=[{"sample": 1, "contestant": 1, "seat": seat}])
    with pytest.raises(ValidationError, match="named twice"):
        outputs_config(subsets=["one", "one"])
