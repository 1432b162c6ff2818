"""A private dataset, its battles and its ladders: whatever address names one, a stranger finds nothing there."""

import re
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from experiments import actions
from experiments.battles.boards import model_board, people_board
from experiments.datasets import demonstration
from experiments.models import Battle, Campaign, Experiment
from leaderboard.compute import ensure
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

NOWHERE = {"runs": UUID(int=0), "experiments": UUID(int=0), "battles": 999_999, "datasets": "nowhere"}
NOWHERE |= {"leaderboard": "nowhere", "ladders": "nowhere", "vote": "nowhere"}
WORDS = {"format": "csv", "side": "first", "token": "none", "kind": "slim", "name": "slim", "sha": "0" * 64}
KEY = re.compile(r"(?:api/)?(runs|experiments|battles|datasets|leaderboard|ladders|vote)/<(?:\w+:)?(pk|slug)>")


def addresses():
    """Every route that begins with a thing of one of these kinds, with a place for its key."""
    found = set()
    for prefix, pattern in _routes(get_resolver().url_patterns, ""):
        route = f"{prefix}{pattern.pattern}".replace("<drf_format_suffix:format>", "").lstrip("^")
        if match := KEY.match(route):
            filled = route.replace(match[0].split("/")[-1], "{key}", 1)
            found.add((match[1], re.sub(r"<(?:\w+:)?(\w+)>", _word, filled)))
    return sorted(found)


def _word(match):
    return WORDS.get(match[1], "1" if "int:" in match[0] or match[1] == "pk" else str(UUID(int=0)))


def _routes(patterns, prefix):
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield prefix, pattern
        else:
            yield from _routes(pattern.url_patterns, f"{prefix}{pattern.pattern}")


ADDRESSES = addresses()


@pytest.fixture
def alices(provider, alice, quiet_doorbell):
    """The key of each kind of thing that Alice has."""
    dataset = demonstration.make_text(alice)
    dataset.visibility = "private"
    dataset.save()
    judge = add_model("sim/judge:first=0")
    config = {"dataset": dataset.slug, "prompt": "text_quality"}
    experiment = actions.create(owner=alice, workflow="battles", config=config, cast={"judge": {"model": judge.slug}})
    run = actions.start(experiment, by=alice)[0]
    board = model_board(dataset, judge, prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    battle = Battle.objects.create(board=board, sample=dataset.samples.first(), left=left, right=right, winner="left")
    people_board(dataset)
    ladder = ensure(board)
    by_slug = {"leaderboard": ladder.slug, "ladders": ladder.slug}
    keys = {"runs": run.pk, "experiments": experiment.pk, "battles": battle.pk, "datasets": dataset.slug}
    return {**keys, **by_slug, "vote": dataset.slug}


def test_the_routes_are_found():
    paths = {path for _kind, path in ADDRESSES}

    assert {"experiments/{key}/live/", "experiments/{key}/stop/", "battles/{key}/", "datasets/{key}/"} <= paths
    assert {"datasets/{key}/outputs/make/", "leaderboard/{key}/", "vote/{key}/"} <= paths


@pytest.mark.parametrize("who", ["a stranger", "a visitor"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_nobody_else_learns_or_moves_anything(alices, charlie, method, who):
    browser = Client()
    if who == "a stranger":
        browser.force_login(charlie)
    before = (Experiment.objects.count(), Battle.objects.count(), Campaign.objects.get().state)
    for kind, path in ADDRESSES:
        answer = getattr(browser, method)("/" + path.format(key=alices[kind]))
        empty = getattr(browser, method)("/" + path.format(key=NOWHERE[kind]))

        assert answer.status_code == empty.status_code, path
        assert answer.status_code in ({404, 405} if who == "a stranger" else {302, 401, 403, 404, 405}), path
        assert "Demonstration: answers" not in b"".join(answer).decode(), path
    assert (Experiment.objects.count(), Battle.objects.count(), Campaign.objects.get().state) == before
