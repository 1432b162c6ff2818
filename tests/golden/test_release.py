"""What the release before has recorded is read, shown, given out and gone on with as it was then.

`kept.zip` holds rows, what is given out about them, what comes of unfinished runs, and the answers of their providers.
`ARENA_KEEP=outputs` keeps a change of what is given out that is meant; `ARENA_KEEP=rows` plays everything anew.
"""

import json
import os
import zipfile
from datetime import UTC, datetime
from difflib import unified_diff
from itertools import chain
from pathlib import Path

import pytest
from django.apps import apps
from django.core import serializers
from django.core.management.color import no_style
from django.db import connection, transaction
from django.utils import timezone

from experiments.engine import partial_text, run_execution
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Pacer
from experiments.models import Provider, Run
from tests.fixtures import PASSWORD, signed_in
from tests.golden import outputs
from tests.golden.playing import Playing, go_on
from tests.golden.providers import Keeping, Repeating
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


def test_the_release_before_is_shown_and_gone_on_with_as_it_was(django_user_model, monkeypatch):
    if KEEP == "rows":
        with transaction.atomic():
            _play(django_user_model.objects.create_user("alice", password=PASSWORD))
            transaction.set_rollback(True)
    files = archived()
    provider = Repeating(json.loads(files["answers.json"]))
    with served(provider) as base_url:
        load(files["rows.json"], base_url)
        owner = django_user_model.objects.get(username="alice")
        with monkeypatch.context() as clock:
            clock.setattr(timezone, "now", lambda: LATER)
            clock.setattr("experiments.tasks.clock.now", lambda: LATER)
            now = {f"before/{name}": text for name, text in outputs.of_all_runs(signed_in(owner))}
        Provider.objects.update(concurrency=1)  # calls end in the order in which they begin
        go_on(owner)
        client = signed_in(owner)
        now |= {
            f"after/{name}": outputs.normalised(text)
            for number, run in enumerate(Run.objects.order_by("pk"), 1)
            for name, text in outputs.of_run(
                f"{number:02} {run.experiment.workflow}", run, client, ("json", "jsonl", "csv"), ("events", "calls")
            )
        }
    if KEEP:
        _archive({name: text for name, text in files.items() if "/" not in name} | now)
    then = {name: text for name, text in archived().items() if "/" in name}

    assert provider.unknown == []
    assert _differences(then, now) == {}


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
    return serializers.serialize(
        "json", chain.from_iterable(model.objects.order_by("pk") for model in models), indent=0
    )


def _differences(then, now):
    """By the name of what was given out."""
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
