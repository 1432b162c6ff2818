"""Studies whose answers come in batches: the same findings at half the cost, and what pages and programs are told."""

from decimal import Decimal

from experiments.engine import batch_sending
from experiments.models import BatchedCall, Experiment, Provider, Run
from experiments.studies import results, services
from experiments.studies.checking import checked_design, estimated
from tests.experiments.batching import add_prices, later, until_all_wait
from tests.experiments.studies import designs
from tests.fixtures import signed_in
from tests.making import maker


@maker
def study(batches, alice, woken_runs, /, **changed):
    asked = {"design": designs.small(**changed), "plan": designs.small_plan()}
    made = services.create(owner=alice, title="Refusals", at_once=20, **asked)
    add_prices()
    services.lock(made, by=alice)
    return made


def test_a_study_in_batches_finds_what_it_finds_live_at_half_the_cost(study, alice, to_the_end, batches):
    live, made = study(), study(batches=True)
    found = []
    for one in (made, live):
        services.start(one, by=alice)
        assert to_the_end(*Run.objects.filter(planned__study=one))
        found.append(results.look(one, by=alice).results["results"])

    assert found[0] == found[1]
    pairs = zip(made.planned_runs.order_by("number"), live.planned_runs.order_by("number"), strict=True)
    for one, other in pairs:
        said, same = (list(planned.run.messages.values_list("seat", "raw_text")) for planned in (one, other))
        assert said == same
        costs = [sum(call.cost for call in planned.run.calls.all()) for planned in (one, other)]
        assert costs[0] == costs[1] / 2 > 0
    assert len(batches.made) < BatchedCall.objects.count(), "calls share batches"
    assert made.locked.content == live.locked.content
    assert made.locked.digest != live.locked.digest, "how it was asked is locked, too"


def test_an_estimate_knows_the_price_of_batches_and_a_provider_without_is_asked_as_usual(study, alice, drive):
    live, made = study(), study(batches=True)
    usual, cheap = (estimated(checked_design(one.design, owner=alice), by=alice, at_once=5) for one in (live, made))

    assert (cheap.typical.cost, cheap.most.cost) == (usual.typical.cost / 2, usual.most.cost / 2)
    assert (usual.is_batched, cheap.is_batched, cheap.typical.calls) == (False, True, usual.typical.calls)
    Provider.objects.update(batch_api="")
    assert not estimated(checked_design(made.design, owner=alice), by=alice, at_once=5).is_batched
    services.start(made, by=alice)
    drive()
    made.refresh_from_db()
    assert made.state == "completed"
    assert set(Experiment.objects.filter(condition__study=made).values_list("uses_batches", flat=True)) == {True}


def test_pages_and_programs_say_what_is_waited_for(study, alice, drive, api, read):
    made, browser = study(batches=True), signed_in(alice)
    services.start(made, by=alice)
    until_all_wait(drive)
    run = Run.objects.filter(planned__study=made).first()
    assert "4 answers in a batch, not sent yet" in read(browser.get(f"/studies/{made.pk}/")).text
    later(batch_sending.settings.BATCH_GATHER_SECONDS + 1)
    later(30)

    page, of_run = read(browser.get(f"/studies/{made.pk}/")), read(browser.get(f"/runs/{run.pk}/"))
    assert "wait for a person" not in page.text
    assert "The provider has done" in page.text
    assert "1 answer in a batch, sent" in of_run.text
    assert "in a batch" in of_run.text
    assert "waits for you" not in of_run.text
    assert "Waiting for you" not in read(browser.get("/")).text
    told = browser.get(f"/api/studies/{made.pk}/").json()["in_batches"]
    assert (told["calls"], told["unsent"], told["total"]) == (4, 0, 4)
    assert browser.get(f"/api/runs/{run.pk}/").json()["in_batches"]["calls"] == 1
    call = read(browser.get(f"/calls/{run.calls.get().pk}/"))
    assert "batch_sim_" in call.text
    assert Decimal("0.5") == run.calls.get().batched.share
