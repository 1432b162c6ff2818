"""Several endpoints of one judge, and judges that are given up."""

from experiments.workflows.battles.breaker import MOST_FAILURES
from experiments.workflows.steps import Outcome
from tests.cases import each_case
from tests.experiments.battling import BAD_KEY, BUSY, DOWN, TALK, Play, cast, says, tasks

REFUSED = Outcome(ok=False, error_kind="refused", error="The provider refuses this.")


def endpoint(ask):
    return ask.played_by or ask.seat


def test_mirrors_share_the_load_and_the_verdicts_are_the_judges():
    play = Play(lambda ask: says("tie"), cast("judge", "mirror-1", "mirror-2"), tasks=tasks(30))
    asked = [endpoint(ask) for ask in play.asked]

    assert {seat: asked.count(seat) for seat in set(asked)} == {"judge": 20, "mirror-1": 20, "mirror-2": 20}
    assert {ask.seat for ask in play.asked} == {fact["seat"] for fact in play.facts.values()} == {"judge"}


def test_only_the_first_judge_has_mirrors():
    play = Play(lambda ask: says("tie"), cast("judge", "judge-2", "mirror-1"), tasks=tasks(4))
    assert {endpoint(ask) for ask in play.asked if ask.seat == "judge-2"} == {"judge-2"}


@each_case("failure", [BUSY, DOWN, BAD_KEY], ids=["busy", "down", "key"])
def test_another_endpoint_answers_where_one_fails(failure):
    play = Play(lambda ask: failure if endpoint(ask) == "judge" else says("tie"), cast("judge", "mirror-1"))

    assert play.battle["winner"] == "tie"
    first, _other, second, _last = play.asked
    assert (first.key, endpoint(first), first.patience) == ("battle/judge/1-1-2/original", "judge", 5.0)
    assert (second.key, endpoint(second), second.patience) == ("battle/judge/1-1-2/original/2", "mirror-1", None)
    assert play.battle["verdicts"][0]["key"] == "battle/judge/1-1-2/original/2"


def test_a_request_that_one_endpoint_refuses_is_not_sent_to_all():
    play = Play(lambda ask: REFUSED, cast("judge", "mirror-1"))
    assert (len(play.asked), play.battle["open_reason"]) == (2, REFUSED.error)


def test_a_battle_is_open_only_when_every_endpoint_has_failed():
    play = Play(lambda ask: BUSY, cast("judge", "mirror-1", "mirror-2"), calls="sequential")
    assert [endpoint(ask) for ask in play.asked] == ["judge", "mirror-1", "mirror-2"]
    assert play.battle["open_reason"] == BUSY.error


def test_an_endpoint_that_keeps_failing_is_soon_asked_last_and_now_and_then_first():
    seated = cast("judge", "mirror-1")
    play = Play(lambda ask: DOWN if endpoint(ask) == "judge" else says("tie"), seated, tasks=tasks(200), side_by_side=1)
    failed = [ask for ask in play.asked if endpoint(ask) == "judge"]

    assert all(fact["winner"] == "tie" for fact in play.facts.values())
    assert 2 < len(failed) < 20


def test_a_verdict_that_cannot_be_read_is_asked_for_at_all_endpoints_alike():
    play = Play(lambda ask: TALK, cast("judge", "mirror-1"), attempts=1)
    assert sorted(play.keys) == sorted(
        f"battle/judge/1-1-2/{order}{again}" for order in ("original", "swapped") for again in ("", "/2")
    )


# --- judges that are given up ---


def test_a_broken_key_does_not_go_through_all_battles():
    play = Play(lambda ask: BAD_KEY, tasks=tasks(5000))

    assert len(play.asked) < 3 * MOST_FAILURES
    assert (play.end.failed, play.end.reason) == (True, "judge_failed")
    assert "lab/judge failed 20 times in a row" in play.end.message
    assert BAD_KEY.error in play.end.message
    assert all(fact["winner"] == "" for fact in play.facts.values())


def test_one_judge_is_given_up_and_the_other_goes_on():
    play = Play(lambda ask: BAD_KEY if ask.seat == "judge" else says("A"), cast("judge", "judge-2"), tasks=tasks(300))

    by = [fact["seat"] for fact in play.facts.values()]
    assert by.count("judge-2") == 300
    assert by.count("judge") < 2 * MOST_FAILURES
    assert play.end.failed


def test_now_and_then_a_success_keeps_a_judge_in_its_seat():
    play = Play(lambda ask: says("tie") if "0-1-2/" in ask.key else DOWN, tasks=tasks(200))
    assert (len(play.facts), play.end.reason) == (200, "completed")


def test_samples_that_a_provider_refuses_are_no_broken_judge():
    play = Play(lambda ask: says("tie") if "/1-1-2/" in ask.key else REFUSED, tasks=tasks(100))
    assert (len(play.facts), play.end.reason) == (100, "completed")
    assert Play(lambda ask: REFUSED, tasks=tasks(100)).end.reason == "judge_failed"


def test_unreadable_answers_are_no_failures_of_the_provider():
    play = Play(lambda ask: TALK, tasks=tasks(100), attempts=0)
    assert (len(play.facts), play.end.reason) == (100, "completed")
