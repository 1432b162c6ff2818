"""What the release before has recorded is read, shown, given out and gone on with as it was then.

`kept.zip` holds rows, what is given out about them, what comes of unfinished runs, and the answers of their providers.
`ARENA_KEEP=outputs` keeps a change of what is given out that is meant; `ARENA_KEEP=rows` plays everything anew.
"""

import json
import os
import zipfile
from datetime import UTC, datetime
from difflib import unified_diff
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core import serializers
from django.core.management.color import no_style
from django.db import connection, transaction

from experiments.engine import partial_text, run_execution
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Pacer
from experiments.models import Call, Provider, Run
from experiments.workflows import REGISTRY, event_classes, surface_of
from experiments.workflows.base.dry_run import Model, play
from tests.fixtures import PASSWORD, signed_in
from tests.golden import outputs
from tests.golden.playing import Keeping, Playing, Repeating, go_on
from tests.parts.in_process import served
from tests.scripted import Scripted

KEPT = Path(__file__).with_name("kept.zip")
KEEP = os.environ.get("ARENA_KEEP", "")
OURS = ("accounts", "experiments", "leaderboard")
LATER = datetime(2036, 1, 1, tzinfo=UTC)  # than everything that is kept
MOST_LINES = 30  # of a difference that are shown

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("alike")]


@pytest.fixture
def alike(monkeypatch, settings):
    """What is recorded does not depend on how long something takes."""
    monkeypatch.setattr(partial_text, "SAVE_SECONDS", 1000.0)
    monkeypatch.setattr(run_execution, "MOMENT", 1000.0)
    settings.BATTLES_PER_RUN = 6


@pytest.fixture
def kept(alike):
    """The provider that answers as then, and the person whose runs these are."""
    if KEEP == "rows":
        _played_anew()
    files = archived()
    provider = Repeating(json.loads(files["answers.json"]))
    with served(provider) as base_url:
        load(files["rows.json"], base_url)
        yield provider, get_user_model().objects.get(username="alice")


def test_people_and_programs_are_given_what_the_release_before_gave_out(kept, monkeypatch):
    for clock in ("django.utils.timezone.now", "experiments.tasks.clock.now"):
        monkeypatch.setattr(clock, lambda: LATER)
    client = signed_in(kept[1])
    given = [outputs.of_run(title, run, client) for title, run in outputs.all_runs()]
    now = {f"before/{name}": text for name, text in chain(outputs.as_shown(client), *given)}

    assert _differences(now, lambda name: name.startswith("before/")) == {}


def test_what_the_release_before_began_is_gone_on_with_as_it_was(kept):
    provider, owner = kept
    Provider.objects.update(concurrency=1)  # calls end in the order in which they begin
    go_on(owner)
    client = signed_in(owner)
    now = {
        f"after/{name}": outputs.normalised(text)
        for title, run in outputs.all_runs()
        for name, text in outputs.of_run(title, run, client, ("json", "jsonl", "csv"), ("events", "calls"))
    }

    assert provider.unknown == []
    assert _differences(now, lambda name: name.startswith("after/")) == {}


@cache
def _played_anew():
    """Once, by the test that comes first."""
    with transaction.atomic():
        _play(get_user_model().objects.create_user("alice", password=PASSWORD))
        transaction.set_rollback(True)


def _play(owner):
    """Rows and answers, as this release records them."""
    scripted = Scripted()
    simulated = SimulatedProvider(pacer=Pacer(0))
    keeper = Keeping(lambda model: simulated if model.startswith("sim/") else scripted)
    with served(keeper) as base_url:
        scripted.provider = Provider.objects.create(
            name="simulated", base_url=base_url, allow_private=True, is_simulated=True, concurrency=1000
        )
        Playing(owner, keeper, scripted).all()
        rows = _all_rows()
        keeper.kept.clear()
        go_on(owner)
    _archive({"rows.json": rows, "answers.json": json.dumps(keeper.kept, indent=0)})


def _all_rows():
    models = [model for app in OURS for model in apps.get_app_config(app).get_models() if model._meta.managed]
    rows = chain.from_iterable(model.objects.order_by("pk") for model in models)
    return serializers.serialize("json", rows, indent=0)


def _differences(now, asked):
    """What differs from the kept outputs, by their names. asked: whether a name is compared. With ARENA_KEEP, the
    outputs of now replace the kept ones first.
    """
    files = archived()
    if KEEP:
        files = {name: text for name, text in files.items() if not asked(name)} | now
        _archive(files)
    then = {name: text for name, text in files.items() if asked(name)}
    found = {}
    for name in sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name)):
        before, after = then.get(name, "").splitlines(), now.get(name, "").splitlines()
        if lines := list(unified_diff(before, after, "then", "now", n=1, lineterm="")):
            found[name] = lines[:MOST_LINES]
    return found


def load(rows, base_url):
    for row in serializers.deserialize("json", rows):
        row.save()
    models = [model for app in OURS for model in apps.get_app_config(app).get_models()]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    Provider.objects.update(base_url=base_url)


def archived():
    with zipfile.ZipFile(KEPT) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _archive(files):
    """The same files make the same archive."""
    with zipfile.ZipFile(KEPT, "w") as archive:
        for name, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text.encode(), zipfile.ZIP_DEFLATED, 9)


def test_every_stored_event_is_read_by_its_class_and_would_be_written_the_same():
    rows = json.loads(archived()["rows.json"])
    events = [row["fields"] for row in rows if row["model"] == "experiments.event"]
    written = [event_classes()[event["type"]].read(event["data"]).data() for event in events]

    assert [json.dumps(data) for data in written] == [json.dumps(event["data"]) for event in events]


def test_a_recorded_run_made_the_calls_that_are_estimated_and_stayed_within_the_bound():
    """Against what its rules, played without a model, would have asked for."""
    load(archived()["rows.json"], "")
    stored = {"instruction": 6, "images": 0, "output": 8}  # tokens of the recorded dataset's texts
    same = {"roles": {"refiner": 1500, "debater": 2000, "summarizer": 2500}, "stored": lambda part: stored[part.what]}
    for which in (
        *({"title": f"{name}, over"} for name in ("Arena", "Debate", "Battles", "Coding")),
        *({"title": "StarChamber, waiting"}, {"workflow": "council", "config__max_turns": 2}),
    ):
        asked = {f"experiment__{name}": value for name, value in which.items()}
        run = Run.objects.filter(parent=None, **asked).first()
        slug = run.experiment.workflow
        config = run.experiment.parsed_config(run.overrides)
        calls = run.calls.filter(state=Call.State.COMPLETED)
        if slug == "council":  # asked on since
            calls = calls.exclude(step__turn=2)
        models = {one.seat: Model(max_tokens=one.params.get("max_tokens")) for one in run.experiment.participants.all()}
        about = (REGISTRY[slug], config, models, surface_of(slug).assumptions)
        typical, most = (play(*about, at_most=at_most, **same) for at_most in (False, True))

        assert typical.calls == calls.count(), slug
        assert sum(call.input_tokens for call in calls) <= sum(used.read for used in most.by_seat.values()), slug
        assert sum(call.output_tokens for call in calls) <= sum(used.written for used in most.by_seat.values()), slug
