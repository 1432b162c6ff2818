"""The council's rule of play after its first conclusion: further questions, what is asked again, titles."""

import pytest
from pydantic import ValidationError

from experiments.workflows import council
from experiments.workflows.council.config import Config
from experiments.workflows.council.counting import Ballot, leaders, standings
from tests.experiments.councils import OFFLINE, Play, but, cast, shown


def test_a_conclusion_drawn_again_takes_the_place_of_the_first_unless_it_fails():
    says = (("conclude", ""), ("send", "And at sunset?"))
    play = Play(cast(), says=says)

    assert play.data("turn/1/conclusion/superseded") == {"message": "turn/1/conclusion"}
    assert "The answer of member-3." in play.told("turn/1/conclusion/2")
    assert "The council concludes" not in play.told("turn/1/conclusion/2"), "the chair begins afresh"
    assert play.step("turn/2/answer/member-1").messages[1].content.endswith("turn/1/conclusion/2.")

    play = Play(cast(), but({"turn/1/conclusion/2": OFFLINE}), says=says)
    assert play.found("message_superseded") == play.found("concluded_by_rank") == []
    assert play.offers[1].error == OFFLINE.error
    assert play.step("turn/2/answer/member-1").messages[1].content.endswith("turn/1/conclusion.")


def test_answers_ranked_again_are_shown_in_another_order_with_those_that_came_late_and_concluded_from_anew():
    play = Play(cast(5), says=(("deliberate", ""),))

    again = [step for step in play.asked("review") if step.key.endswith("/2")]
    assert len(again) == 5
    assert [shown(step) for step in again] != [shown(step) for step in play.asked("review")[:5]]
    assert "turn/1/conclusion/superseded" in play.keys
    assert play.keys.count("turn/1/completed") == 1

    replies = but({"turn/1/answer/member-2": OFFLINE})
    play = Play(cast(), replies, says=(("retry_seat", "member-2"), ("conclude", ""), ("deliberate", "")))

    assert play.step("turn/1/answer/member-2/2").inspect("Blue.") == ["late"]
    assert play.step("turn/1/answer/member-2/2").draw == play.step("turn/1/answer/member-2").draw
    assert play.offers[1].actions == ("send", "conclude", "deliberate")
    assert "given after the ranking" in play.told("turn/1/conclusion/2")
    assert play.data("turn/1/count/2")["seats"] == ["member-1", "member-2", "member-3"]
    assert "given after the ranking" not in play.told("turn/1/conclusion/3")


def test_only_who_has_not_done_their_part_is_asked_again_until_it_is_done_and_a_reviewer_is_shown_the_same():
    replies = but({"turn/1/review/member-1": OFFLINE})
    play = Play(cast(), replies, says=(("retry_seat", "member-1"),))

    first, second = (list(shown(play.step(f"turn/1/review/member-1{end}")).values()) for end in ("", "/2"))
    assert first == second
    assert len(play.data("turn/1/count")["ballots"]) == 2
    count = play.data("turn/1/count/2")
    assert (count["count"], len(count["ballots"]), count["abstained"]) == (1, 3, [])
    assert "retry_seat" not in play.offers[1].actions

    replies = but({"turn/1/answer/member-2": OFFLINE, "turn/1/answer/member-2/2": OFFLINE})
    for seat in ("member-1", "member-9", "chair", "<b>"):
        play = Play(cast(), replies, says=(("retry_seat", seat),))
        assert "nothing to ask" in play.offers[1].error, seat
        assert len(play.asked("reply")) == 3

    play = Play(cast(), replies, says=(("retry_seat", "member-2"), ("retry_seat", "member-2")))
    assert play.offers[1].error == OFFLINE.error
    assert play.step("turn/1/answer/member-2/3")
    asked = [(1, "send"), (2, "retry_seat"), (2, "deliberate")]
    assert council.next_offer(asked) == ("turn/2/next/3", 2), "where a question asked ahead is found"


def test_a_title_is_found_beside_the_first_question_and_without_one_everything_goes_on():
    for said, title in (
        ("“A blue sky”", "A blue sky"),
        ("A blue sky.\n\nI chose it because", "A blue sky"),
        ('**Title: "A blue sky"**', "A blue sky"),
        ("《蓝色的天空》", "蓝色的天空"),
        ("\n\n# A  blue\tsky", "A blue sky"),
        ("word " * 40, f"{('word ' * 40)[:79].rstrip()}…"),
    ):
        play = Play(cast(3, "title"), but({"title": said}), title=True)

        assert play.keys.index("title") < play.keys.index("turn/1/stage/reviews"), said
        assert play.found("titled") == [{"title": title}]
        assert play.step("title").played_by == ""
        assert len(play.asked("title")) == 1

    for untitled in (OFFLINE, "", '\n""\n', "**"):
        play = Play(cast(), but({"title": untitled}), title=True)
        assert play.found("titled") == [], untitled
        assert [key for key in play.keys if not key.startswith("title")] == Play(cast()).keys
    assert play.step("title").played_by == "chair", "where no model is seated for titles, the chair's finds it"


def test_a_question_and_as_many_members_as_are_named_and_at_least_two_are_needed():
    with pytest.raises(ValidationError, match="Write the question"):
        Config(question=" \n")
    config = Config(question="Why?")
    assert config.seats() == ("member-1", "member-2", "chair")
    assert config.seats(["member-4"]) == ("member-1", "member-2", "member-3", "member-4", "chair")
    assert len(config.seats(["member-30"])) == 31


ABC = ("a", "b", "c")


def ballot(order, offered=ABC):
    """order: "c>a=b" """
    return Ballot("x", tuple(tuple(group.split("=")) for group in order.split(">")), tuple(offered))


def counted(*ballots):
    return {one.seat: (one.votes, one.mean_rank, one.borda) for one in standings(ABC, ballots)}


def test_a_ballot_gives_places_which_equals_and_those_left_out_share_and_leaders_are_those_whom_nobody_beats():
    assert counted(ballot("c>a>b")) == {"c": (1, 1, 1), "a": (1, 2, 0.5), "b": (1, 3, 0)}
    assert ballot("a=b>c").positions() == {"a": 1.5, "b": 1.5, "c": 3}
    assert counted(ballot("a=b>c"))["a"] == (1, 1.5, 0.75)
    assert ballot("c").positions() == {"c": 1, "a": 2.5, "b": 2.5}
    assert counted(ballot("c"))["a"] == (0, 2.5, 0.25), "no vote, but not unranked either"
    assert counted(ballot("a", "a"))["a"] == (1, None, None), "one answer is compared with nothing"
    assert counted(ballot("a>b", "ab"))["c"] == (0, None, None), "nobody was shown it"
    assert [one.seat for one in standings(ABC, [ballot("b>a", "ab")])] == ["b", "a", "c"]
    found = counted(ballot("b>c", "bc"), ballot("c>a", "ca"), ballot("b>a", "ab"))
    assert found == {"b": (2, 1, 1), "c": (2, 1.5, 0.5), "a": (2, 2, 0)}, "without their own answers"

    found = standings(ABC, [ballot("a>b>c"), ballot("b>c>a"), ballot("c>a>b")])
    assert (leaders(found), {one.borda for one in found}) == (["a", "b", "c"], {0.5})
    assert leaders(standings(ABC, [ballot("c>a>b"), ballot("a=c>b")])) == ["c"]
    assert leaders(standings(ABC, [ballot("a=c>b")])) == ["a", "c"]
    assert leaders(standings(ABC, [])) == []
