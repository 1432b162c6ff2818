"""Instruments, scans and annotations for programs: everything that pages do with them."""

import json

import pytest

from arena_lab.errors import Conflict, Invalid
from tests.client.conftest import begun
from tests.experiments.scans.conftest import DEFINITION


@pytest.mark.django_db
def test_a_program_defines_an_instrument_scans_a_run_and_reads_what_was_found(arena, drive):
    saved = arena.instruments.save("Lies", DEFINITION, description="Who lies?")
    revised = arena.instruments.revise(saved, {**DEFINITION, "sees": {"reasoning": True}})
    assert [one.number for one in arena.instruments.versions(saved)] == [2, 1]
    with pytest.raises(Conflict):
        arena.instruments.revise(saved, DEFINITION)
    with pytest.raises(Invalid) as refused:
        arena.instruments.save("Lies", {"dimensions": []})
    assert "definition.dimensions" in refused.value.errors
    assert {one.title for one in arena.instruments.list()} >= {"Lies", "Refusal"}

    file = json.loads(arena.instruments.export(revised, 2).content)
    again = arena.instruments.save(file["title"], file["definition"])
    assert again.newest.digest == revised.newest.digest
    assert arena.instruments.archive(again).archived
    assert again.id not in {one.id for one in arena.instruments.list()}

    run = begun(arena, max_turns=1)
    drive()
    scan = arena.scan(revised.newest, [run], {"judge": "sim/neutral"}, title="Who lies?")
    drive()
    assert arena.experiments.campaign(scan).state == "completed"
    found = list(arena.annotations(experiment=scan, dimension="force"))
    messages = {message.id: message for message in arena.runs.messages(run) if message.seat in ("A", "B")}
    assert {one.message for one in found} == set(messages)
    assert {(one.instrument, one.version, one.judge) for one in found} == {(saved.id, revised.newest.id, "sim/neutral")}
    assert all(0 <= one.value <= 4 and one.unscored_reason == "" for one in found)
    lying = list(arena.annotations(run=run, found=True, dimension="lies"))
    assert all(one.value is True for one in lying)
