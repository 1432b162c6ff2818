"""Two people's runs are driven side by side: no word, score or key of one gets into the other."""

import json
import time
from itertools import pairwise

import pytest

from experiments.engine import leases
from experiments.engine.driver import SAVE_SECONDS, Driver
from experiments.models import Provider, Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.mark.edge(50)
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


@pytest.mark.edge(50)
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


def test_words_are_written_down_while_many_runs_are_taken_over(arena, start, drive, monkeypatch):
    done, claim, save = [], leases.claim, Driver._save_partials

    def slow_claim(run_id, announce):
        done.append("claim")
        time.sleep(1.5 * SAVE_SECONDS)
        return claim(run_id, announce)

    def noted_save(driver):
        done.append("save")
        save(driver)

    monkeypatch.setattr(leases, "claim", slow_claim)
    monkeypatch.setattr(Driver, "_save_partials", noted_save)
    runs = [start(arena()) for _ in range(4)]
    drive()

    assert done.count("claim") >= len(runs)
    assert ("claim", "claim") not in set(pairwise(done))
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {Run.State.COMPLETED}
