"""Two people's runs are driven side by side: no word, score or key of one gets into the other."""

import json
import time
from itertools import pairwise

import pytest

from experiments.engine import leases
from experiments.models import Provider, Run
from tests.fixtures import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_words_scores_and_events_stay_with_their_run(arena, start, drive, charlie):
    experiments = [arena(prompt=f"Divide {what}.", max_turns=3) for what in ("eleven boats", "twelve houses")]
    type(experiments[1]).objects.filter(pk=experiments[1].pk).update(owner=charlie)
    boats, houses = (start(experiment, seed=seed) for seed, experiment in enumerate(experiments))
    drive()

    for run, own, foreign in ((boats, "eleven boats", "twelve houses"), (houses, "twelve houses", "eleven boats")):
        asked = json.dumps([call.request for call in run.calls.all()])
        assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED
        assert own in asked
        assert foreign not in asked
        assert (run.messages.count(), run.judgments.count()) == (6, 6)
        assert all(judgment.call.run_id == run.pk for judgment in run.judgments.all())
        seqs = list(run.events.values_list("seq", flat=True))
        assert seqs == list(range(1, len(seqs) + 1))
        assert foreign not in json.dumps(list(run.events.values_list("data", flat=True)))


def test_each_provider_is_sent_its_own_key_alone(arena, start, drive, scripted, monkeypatch):
    monkeypatch.setenv("KEY_OF_THE_SCRIPTED", "sk-scripted-only")
    monkeypatch.setenv("KEY_OF_THE_SIMULATED", "sk-simulated-only")
    Provider.objects.filter(name="scripted").update(api_key_env="KEY_OF_THE_SCRIPTED")
    Provider.objects.filter(name="simulated").update(api_key_env="KEY_OF_THE_SIMULATED")
    speaker = scripted.model("scripted/one", "I take four.")
    run = start(arena(speaker, max_turns=1))
    drive()

    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED
    assert [headers["authorization"] for headers, _body in lowered(scripted)] == ["Bearer sk-scripted-only"]


def lowered(scripted):
    return [({name.lower(): value for name, value in headers.items()}, body) for headers, body in scripted.received]


@pytest.mark.system
def test_words_are_written_down_while_the_driver_is_busy_with_another_run(arena, start, drive, monkeypatch):
    claim, kept = leases.claim, []

    def words():
        return sum(len(text) for text in talking.calls.values_list("text", flat=True))

    def slow_claim(run_id, announce):
        if talking.calls.exists():
            for _ in range(2):
                before = words()
                wait_until(lambda: words() > before, "more words", seconds=30)  # noqa: B023 — called at once
                kept.append(words())
        return claim(run_id, announce)

    monkeypatch.setattr(leases, "claim", slow_claim)
    talking = start(arena(a="sim/cooperative:first=0:tps=40:words=400", max_turns=1))
    other = start(arena(max_turns=1))
    drive()

    assert len(kept) >= 2
    assert {Run.objects.get(pk=run.pk).state for run in (talking, other)} == {Run.State.COMPLETED}


@pytest.mark.system
def test_what_is_due_is_done_while_many_runs_are_taken_over(arena, start, drive, monkeypatch, settings):
    done, claim, renew = [], leases.claim, leases.renew

    def slow_claim(run_id, announce):
        done.append("claim")
        time.sleep(0.3)
        return claim(run_id, announce)

    def noted_renewal(fences):
        done.append("renew")
        renew(fences)

    monkeypatch.setattr(leases, "claim", slow_claim)
    monkeypatch.setattr(leases, "renew", noted_renewal)
    settings.LEASE_SECONDS = 1  # a renewal is due after a quarter of it
    runs = [start(arena()) for _ in range(4)]
    drive()

    assert done.count("claim") >= len(runs)
    assert ("claim", "claim") not in set(pairwise(done))
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {Run.State.COMPLETED}
