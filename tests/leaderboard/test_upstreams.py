"""Which upstream made an output: said where a contestant had several, and held equal in adjusted ratings."""

import numpy as np
import pytest
from django.urls import reverse

from experiments.models import Call, Output, Run, Step
from experiments.models.ids import new_id
from experiments.runs.upstreams import mixed
from leaderboard.boards import compute
from tests.leaderboard import boards
from tests.making import maker


@maker
def served(arena, alice, /, count=240):
    """Makes a board of two equal contestants; where another upstream than the usual one served `b`, it lost."""
    random = np.random.default_rng(4)
    is_poor = random.random(count) < 0.3
    wins = np.where(is_poor, random.random(count) < 0.9, random.random(count) < 0.5)
    board = boards.board_of(alice, [("a", "b", "left" if won else "right") for won in wins], visibility="public")
    run = Run.objects.create(experiment=arena(), seed=1)
    model = run.experiment.participants.first().model
    key = dict(board.dataset.contestants.values_list("name", "pk"))
    samples = list(board.dataset.samples.order_by("index").values_list("pk", flat=True))
    outputs = []
    for sample, poor in zip(samples, is_poor, strict=True):
        for name, contestant in key.items():
            step = Step.objects.create(run=run, key=str(new_id()), kind="ask", purpose="output")
            upstream = "Cheap" if poor and name == "b" else "Good"
            fields = {"attempt": 1, "request": {}, "state": Call.State.COMPLETED, "served_provider": upstream}
            call = Call.objects.create(run=run, step=step, model=model, **fields)
            outputs.append(Output(sample_id=sample, contestant_id=contestant, text="An answer.", call=call))
    Output.objects.bulk_create(outputs)
    return compute.ensure_ladder(board), int(is_poor.sum())


@pytest.mark.databases
def test_several_upstreams_of_a_contestant_are_said_on_page_and_api_and_are_a_covariate(client, served):
    ladder, poor = served()
    address = reverse("api-ladder", args=[ladder.slug])

    told, page = client.get(address).json(), client.get(ladder.get_absolute_url()).content.decode()
    held = client.get(address, {"control": "upstream"}).json()["style"]

    assert told["upstreams"] == [
        {
            "name": "b",
            "label": "",
            "upstreams": [{"name": "Good", "answers": 240 - poor}, {"name": "Cheap", "answers": poor}],
        }
    ]
    assert f"b was served by several upstreams: Good ({240 - poor}), Cheap ({poor})." in " ".join(page.split())
    [effect] = held["covariates"]
    adjusted = {row["name"]: row for row in held["rows"]}
    plain = {row["name"]: row for row in told["rows"]}
    assert effect["upper"] < 0, "what another upstream answered loses"
    assert adjusted["b"]["lower"] < 1000 < adjusted["b"]["upper"]
    assert plain["b"]["rating"] < adjusted["b"]["rating"]


def test_upstreams_are_no_part_of_style_and_can_be_added_to_it(client, served):
    ladder, _poor = served(60)
    address = reverse("api-ladder", args=[ladder.slug])

    of_style, both = (
        [one["name"] for one in client.get(address, {"control": word}).json()["style"]["covariates"]]
        for word in ("style", "style,upstream")
    )

    assert "upstream" not in of_style
    assert both == [*of_style, "upstream"]


def test_answers_whose_upstream_is_not_known_are_nobodys(client, league):
    assert mixed([("a", "A", "", 5), ("a", "A", "X", 2), ("b", "B", "X", 1), ("b", "B", "Y", 1)]) == mixed(
        [("b", "B", "Y", 1), ("b", "B", "X", 1)]
    )
    assert client.get(reverse("api-ladder", args=[league().slug])).json()["upstreams"] == []
