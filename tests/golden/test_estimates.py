"""Recorded runs against what their rules, played without a model, would have asked for."""

import pytest

from experiments.models import Call, Run
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.dry_run import Model, play
from tests.cases import each_case
from tests.golden.test_release import archived, load

pytestmark = pytest.mark.django_db

OF_STORED = {"instruction": 6, "images": 0, "output": 8}  # tokens of the recorded dataset's texts
ROLES = {"refiner": 1500, "debater": 2000, "summarizer": 2500}


@pytest.fixture
def kept():
    load(archived()["rows.json"], "")


@each_case("slug, which", [
    ("arena", {"experiment__title": "Arena, over"}),
    ("starchamber", {"experiment__title": "StarChamber, waiting"}),
    ("council", {"experiment__config__max_turns": 2}),
    ("debate", {"experiment__title": "Debate, over"}),
    ("battles", {"experiment__title": "Battles, over"}),
    ("coding", {"experiment__title": "Coding, over"}),
])  # fmt: skip
def test_a_recorded_run_made_the_calls_that_are_estimated_and_stayed_within_the_bound(kept, slug, which):
    run = Run.objects.filter(experiment__workflow=slug, parent=None, **which).first()
    config = run.experiment.parsed_config(run.overrides)
    calls = run.calls.filter(state=Call.State.COMPLETED)
    if slug == "council":  # asked on since
        calls = calls.exclude(step__turn=2)
    models = {one.seat: Model(max_tokens=one.params.get("max_tokens")) for one in run.experiment.participants.all()}
    about = (REGISTRY[slug], config, models, surface_of(slug).assumptions)
    same = {"roles": ROLES, "stored": lambda part: OF_STORED[part.what]}
    typical, most = (play(*about, at_most=at_most, **same) for at_most in (False, True))

    assert typical.calls == calls.count()
    assert sum(call.input_tokens for call in calls) <= sum(used.read for used in most.by_seat.values())
    assert sum(call.output_tokens for call in calls) <= sum(used.written for used in most.by_seat.values())
