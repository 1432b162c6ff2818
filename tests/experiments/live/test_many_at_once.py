"""Many viewers of one run: what they ask for together is read once, and what they are told is made once."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from experiments.live import backfill
from experiments.live.viewers import Said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
async def visits(monkeypatch):
    """How often the database was visited for what viewers had missed."""
    made, read = [], backfill._read

    async def counted(run_id, seq):
        made.append(seq)
        return await read(run_id, seq)

    monkeypatch.setattr(backfill, "_read", counted)
    yield made
    await sync_to_async(connections.close_all)()  # those of the thread in which it was read


async def test_those_who_ask_at_the_same_time_share_one_visit(run, visits):
    here = backfill.Backfill()

    answers = await asyncio.gather(*(here.rows(run.pk, 0) for _viewer in range(20)))

    assert visits == [0]
    assert [event["seq"] for event in answers[-1][0]] == [1]
    assert all(answer == answers[0] for answer in answers)


async def test_those_who_ask_for_different_things_get_different_things(run, visits):
    here = backfill.Backfill()

    (all_events, _texts), (none, _same) = await asyncio.gather(here.rows(run.pk, 0), here.rows(run.pk, 1))

    assert sorted(visits) == [0, 1]
    assert (len(all_events), none) == (1, [])


async def test_whoever_asks_later_is_told_what_has_happened_since(run, happens, visits):
    here = backfill.Backfill()
    await here.rows(run.pk, 0)
    await happens("turn_started", silently=True)

    events, _texts = await here.rows(run.pk, 0)

    assert [event["seq"] for event in events] == [1, 2]
    assert visits == [0, 0]


async def test_one_who_leaves_takes_the_answer_from_nobody(run, visits):
    here = backfill.Backfill()
    leaves, stays = (asyncio.ensure_future(here.rows(run.pk, 0)) for _viewer in range(2))
    await asyncio.sleep(0)

    leaves.cancel()

    assert len((await stays)[0]) == 1


def test_a_text_is_put_into_a_frame_once():
    made = []
    said = Said("hello")

    frames = [said.framed(lambda text: made.append(text) or text.encode()) for _viewer in range(20)]

    assert made == ["hello"]
    assert frames == [b"hello"] * 20
