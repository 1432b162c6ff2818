"""A private dataset: no list, search or count speaks of it, and nothing of it is found by another one's address."""

from itertools import product

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from experiments.library.datasets import demonstration
from experiments.models import Battle
from experiments.runs import actions
from experiments.workflows.battles.campaign.boards import model_board
from leaderboard.boards.compute import ensure_ladder
from tests.experiments.battles import duels
from tests.fixtures import add_model, signed_in

pytestmark = pytest.mark.django_db

SECRETS = ("Demonstration: answers", "demo-answers", "Alice's secret campaign")


@pytest.fixture
def alices(provider, alice, woken_runs):
    """The keys of a private dataset of Alice's, its board, a battle and its campaign."""
    dataset = demonstration.make_text(alice)
    dataset.visibility = "private"
    dataset.save()
    judge = add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", title="Alice's secret campaign", **asked)
    actions.start(experiment, by=alice)
    board = model_board(dataset, judge, prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    pair = {"sample": dataset.samples.first(), "left": left, "right": right}
    battle = Battle.objects.create(board=board, winner="left", experiment=experiment, **pair)
    keys = {"experiments": experiment.pk, "battles": battle.pk, "datasets": dataset.slug}
    return {**keys, "boards": ensure_ladder(board).slug}


def fetch(browser, address):
    """The status and the text, also of an answer that is sent in pieces."""
    answer = browser.get(address)
    return answer.status_code, b"".join(answer).decode("latin-1")


def test_no_list_no_search_and_no_count_speaks_of_it(alices, charlie, settings):
    settings.PUBLIC_VOTES = True
    lists = ("leaderboard/", "vote/", "vote/mine/", "datasets/", "battles/", "runs/", "leaderboard/methodology/")
    lists += tuple(f"api/{name}/" for name in ("ladders", "datasets", "battles", "experiments", "runs"))
    stranger, visitor = signed_in(charlie), Client()
    sessions = Session.objects.count()
    asked = ("", "?search=demonstration", f"?dataset={alices['datasets']}", f"?board={alices['boards']}")

    for address, browser in product((f"/{path}{query}" for path in lists for query in asked), (stranger, visitor)):
        status, text = fetch(browser, address)
        told = text.replace(address.partition("?")[2].partition("=")[2] or "?", "")
        assert status in {200, 302, 400, 401, 403, 404}, address
        assert [secret for secret in SECRETS if secret in told] == [], address
        assert str(alices["experiments"]) not in told, address
    assert Session.objects.count() == sessions, "looking writes nothing"


def test_what_is_in_one_dataset_is_not_found_by_the_address_of_another(provider, alice, charlie, settings, tmp_path):
    settings.IMAGES_DIR = tmp_path
    hidden = duels.dataset_of(alice, samples=1, modality="image", slug="hidden", visibility="private")
    public = duels.dataset_of(alice, samples=1, modality="image", slug="open", visibility="public", names=("a", "b"))
    battle = {"left": public.contestants.order_by("pk")[0], "right": public.contestants.order_by("pk")[1]}
    board = model_board(public, add_model("sim/other"), prompt="image_edit", prompt_version="1", params={})
    Battle.objects.create(board=board, sample=public.samples.get(), winner="left", **battle)
    ladder, sample, sha = ensure_ladder(board).slug, hidden.samples.get().pk, hidden.pictures.first().image_id

    assert signed_in(alice).get(f"/datasets/hidden/images/{sha}/").status_code == 200
    for browser in (signed_in(charlie), Client()):
        assert browser.get(f"/datasets/open/samples/{public.samples.get().pk}/").status_code == 200
        for slug in ("hidden", "open"):
            assert browser.get(f"/datasets/{slug}/images/{sha}/").status_code == 404
            assert browser.get(f"/datasets/{slug}/samples/{sample}/").status_code == 404
        assert browser.get(f"/leaderboard/{ladder}/samples/{sample}/").status_code == 404
        listed = browser.get(f"/leaderboard/{ladder}/battles/?sample={sample}").content.decode()
        assert "Quokkamaster" not in listed


def test_visitors_look_at_everything_public_without_a_session(alices, alice):
    alice.datasets.update(visibility="public")
    visitor, ladder, battle = Client(), alices["boards"], alices["battles"]

    for address in (f"/leaderboard/{ladder}/", f"/leaderboard/{ladder}/battles/", f"/api/boards/{ladder}/export/"):
        assert fetch(visitor, address)[0] == 200, address
    status, text = fetch(visitor, f"/battles/{battle}/")
    assert (status, "Alice's secret campaign" in text) == (200, False)
    assert not Session.objects.exists()
