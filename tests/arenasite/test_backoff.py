"""What keeps failing is retried with growing pauses."""

import pytest

from arenasite.supervisor.backoff import Backoff


@pytest.mark.parametrize(
    ("lasted", "pauses"),
    [
        ([0, 0, 0, 0, 0, 0, 0], [1, 2, 4, 8, 10, 10, 10]),  # doubled up to the cap
        ([0, 0, 59, 0], [1, 2, 4, 8]),
        ([0, 0, 60, 0], [1, 2, 1, 2]),  # reset after a stable period
        ([0] * 5000, [1, 2, 4, 8] + [10] * 4996),
    ],
)
def test_pauses_grow_up_to_a_cap_and_start_anew_after_a_stable_period(lasted, pauses):
    backoff = Backoff(first=1, longest=10, stable=60)

    assert [backoff.pause(seconds) for seconds in lasted] == pauses
