"""Hard limits end a run before they are passed, and say which one it was."""

import pytest

from experiments.models import ModelPrice, ProviderModel, Run

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_reached_limit_of_time_stops_the_run(arena, start, drive):
    run = start(arena(a="sim/cooperative:first=0:tps=300", limits={"seconds": 0.3}, max_turns=20))

    drive()

    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_seconds")
    assert run.events.filter(type="experiment_stopped").get().data["message"]


@pytest.mark.parametrize("limit", [300, 700, 3000])
def test_a_limit_of_tokens_is_never_passed(arena, start, drive, limit):
    run = start(arena(limits={"tokens": limit}, max_turns=20))

    drive()

    run.refresh_from_db()
    total = Run.objects.with_totals().get(pk=run.pk)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert 0 < total.input_tokens + total.output_tokens <= limit
    assert run.events.filter(type="experiment_stopped").get().data["message"]


def test_a_limit_of_money_is_never_passed(arena, start, drive, provider):
    experiment = arena(max_turns=20, limits={"cost": 0.05})
    for model in ProviderModel.objects.all():
        ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input="0.000002", output="0.000004")
    run = start(experiment)

    drive()

    run.refresh_from_db()
    total = Run.objects.with_totals().get(pk=run.pk).total_cost
    assert run.stop_reason == "limit_cost"
    assert 0 < total <= 0.05


def test_a_limit_of_money_refuses_a_model_of_unknown_price(arena, start, drive, provider):
    run = start(arena(limits={"cost": 1}))

    drive()

    run.refresh_from_db()
    assert run.stop_reason == "limit_cost"
    assert "unknown" in run.events.get(type="experiment_stopped").data["message"]
    assert provider.ledger() == []
