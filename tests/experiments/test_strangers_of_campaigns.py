"""A private dataset, its battles, ladders and votes: whatever address names one, a stranger finds nothing there."""

import re
from uuid import UUID

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from experiments import actions
from experiments.battles import votes
from experiments.battles.boards import model_board
from experiments.battles.voters import person_voter
from experiments.datasets import demonstration
from experiments.models import Battle, Campaign, Experiment
from leaderboard.compute import ensure
from tests.experiments.battles import duels
from tests.experiments.routes import routes
from tests.fixtures import add_model, signed_in

pytestmark = pytest.mark.django_db

NOTHING = str(UUID(int=0))
NOWHERE = {"runs": NOTHING, "experiments": NOTHING, "battles": 999_999, "vote": "nowhere", "token": "nowhere"}
NOWHERE |= dict.fromkeys(("datasets", "leaderboard", "ladders", "boards"), "nowhere")
KEY = re.compile(rf"(?:api/)?({'|'.join(NOWHERE)})/<(?:\w+:)?(pk|slug|token)>")
FORMATS = {"download": "csv", "logs": "slim"}
OF_WHAT = {"samples": "{sample}", "contestants": "{contestant}"}
SECRETS = ("Demonstration: answers", "demo-answers", "Alice's secret campaign")


def addresses():
    """Every route that begins with a thing of one of these kinds, with places for its key and for what is in it."""
    plain = (route.replace("<drf_format_suffix:format>", "").lstrip("^") for route in routes())
    return sorted({(match[1], _filled(route)) for route in plain if (match := KEY.match(route))})


def _filled(route):
    """With places for keys, which are told apart by what stands before them."""
    parts, is_first = route.split("/"), True
    for place, part in enumerate(parts):
        if found := re.search(r"<(?:\w+:)?(\w+)>", part):
            word = _word(found[1], parts[place - 1], is_first=is_first)
            parts[place], is_first = part.replace(found[0], word), False
    return "/".join(parts)


def _word(name, before, *, is_first):
    if is_first and name != "token":
        return "{key}"
    return {"token": "{token}", "side": "first", "sha": "0" * 64, "format": FORMATS.get(before, NOTHING)}.get(
        name, OF_WHAT.get(before, NOTHING)
    )


ADDRESSES = addresses()


@pytest.fixture
def alices(provider, alice, quiet_doorbell):
    """The key of each kind of thing that Alice has."""
    dataset = demonstration.make_text(alice)
    dataset.visibility = "private"
    dataset.save()
    judge = add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", title="Alice's secret campaign", **asked)
    run = actions.start(experiment, by=alice)[0]
    board = model_board(dataset, judge, prompt="text_quality", prompt_version="1", params={})
    sample, (left, right) = dataset.samples.first(), dataset.contestants.order_by("pk")[:2]
    pair = {"sample": sample, "left": left, "right": right}
    battle = Battle.objects.create(board=board, winner="left", experiment=experiment, **pair)
    ladder, offer = ensure(board), votes.offer(dataset, voter=person_voter(alice))
    by_slug = dict.fromkeys(("leaderboard", "ladders", "boards"), ladder.slug)
    keys = {"runs": run.pk, "experiments": experiment.pk, "battles": battle.pk, "datasets": dataset.slug}
    inner = {"sample": sample.pk, "contestant": left.pk, "token": votes.shown(offer).token}
    return {**keys, **by_slug, "vote": dataset.slug, **inner}


def path_of(path, keys, kind):
    inner = {name: keys[name] for name in ("sample", "contestant", "token")}
    return "/" + path.format(key=keys[kind], **inner)


def ask(browser, method, address):
    """The status and the text, also of an answer that is sent in pieces."""
    answer = getattr(browser, method)(address)
    return answer.status_code, b"".join(answer).decode("latin-1")


def test_the_routes_are_found():
    paths = {path for _kind, path in ADDRESSES}

    assert {"experiments/{key}/live/", "experiments/{key}/stop/", "battles/{key}/", "datasets/{key}/"} <= paths
    assert {"datasets/{key}/outputs/make/", "leaderboard/{key}/", "vote/{key}/", "vote/{key}/{token}/"} <= paths
    assert {
        "vote/{token}/first.png",
        "leaderboard/{key}/samples/{sample}/",
        "api/boards/{key}/export/",
        "leaderboard/{key}/logs/slim/",
    } <= paths


@pytest.mark.parametrize("who", ["a stranger", "a visitor"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_nobody_else_learns_or_moves_anything(alices, charlie, method, who, settings):
    settings.PUBLIC_VOTES = True
    browser = signed_in(charlie) if who == "a stranger" else Client()
    before = (Experiment.objects.count(), Battle.objects.count(), Campaign.objects.get().state)
    sessions = Session.objects.count()
    for kind, path in ADDRESSES:
        status, text = ask(browser, method, path_of(path, alices, kind))
        empty, _text = ask(browser, method, path_of(path, {**alices, **NOWHERE}, kind))

        assert status == empty, path
        assert status in ({404, 405} if who == "a stranger" else {302, 401, 403, 404, 405}), path
        assert [secret for secret in SECRETS if secret in text.replace(str(alices[kind]), "")] == [], path
    assert (Experiment.objects.count(), Battle.objects.count(), Campaign.objects.get().state) == before
    assert Session.objects.count() == sessions, "to be refused writes nothing"


def test_alice_herself_is_answered_at_the_same_addresses(alices, alice):
    browser = signed_in(alice)

    unknown = {path for kind, path in ADDRESSES if ask(browser, "get", path_of(path, alices, kind))[0] == 404}

    of_others = {path for path in unknown if NOTHING in path or "0" * 64 in path or path.endswith(".png")}
    of_talks = {path for path in unknown if path.removeprefix("api/").startswith("runs/")}
    assert unknown - of_others - of_talks == set()


@pytest.mark.parametrize("who", ["a stranger", "a visitor"])
def test_no_list_no_search_and_no_count_speaks_of_it(alices, charlie, who, settings):
    settings.PUBLIC_VOTES = True
    browser = signed_in(charlie) if who == "a stranger" else Client()
    lists = ("leaderboard/", "vote/", "vote/mine/", "datasets/", "battles/", "runs/", "leaderboard/methodology/")
    lists += tuple(f"api/{name}/" for name in ("ladders", "datasets", "battles", "experiments", "runs"))
    asked = ("", "?search=demonstration", f"?dataset={alices['datasets']}", f"?board={alices['boards']}")

    for address in (f"/{path}{query}" for path in lists for query in asked):
        status, text = ask(browser, "get", address)
        told = text.replace(address.partition("?")[2].partition("=")[2] or "?", "")
        assert status in {200, 302, 400, 401, 403, 404}, address
        assert [secret for secret in SECRETS if secret in told] == [], address
        assert str(alices["experiments"]) not in told, address


def test_what_is_in_one_dataset_is_not_found_by_the_address_of_another(provider, alice, charlie, settings, tmp_path):
    settings.IMAGES_DIR = tmp_path
    hidden = duels.dataset_of(alice, samples=1, modality="image", slug="hidden", visibility="private")
    public = duels.dataset_of(alice, samples=1, modality="image", slug="open", visibility="public", names=("a", "b"))
    battle = {"left": public.contestants.order_by("pk")[0], "right": public.contestants.order_by("pk")[1]}
    board = duels_board(public)
    Battle.objects.create(board=board, sample=public.samples.get(), winner="left", **battle)
    ladder, sample, sha = ensure(board).slug, hidden.samples.get().pk, hidden.pictures.first().image_id

    assert signed_in(alice).get(f"/datasets/hidden/images/{sha}/").status_code == 200
    for browser in (signed_in(charlie), Client()):
        assert browser.get(f"/datasets/open/samples/{public.samples.get().pk}/").status_code == 200
        for slug in ("hidden", "open"):
            assert browser.get(f"/datasets/{slug}/images/{sha}/").status_code == 404
            assert browser.get(f"/datasets/{slug}/samples/{sample}/").status_code == 404
        assert browser.get(f"/leaderboard/{ladder}/samples/{sample}/").status_code == 404
        listed = browser.get(f"/leaderboard/{ladder}/battles/?sample={sample}").content.decode()
        assert "Quokkamaster" not in listed


def duels_board(dataset):
    return model_board(dataset, add_model("sim/other"), prompt="image_edit", prompt_version="1", params={})


def test_visitors_look_at_everything_public_without_a_session(alices, alice):
    alice.datasets.update(visibility="public")
    visitor = Client()
    pages = [path for kind, path in ADDRESSES if kind in {"leaderboard", "ladders", "battles", "boards", "datasets"}]
    kinds = {path: kind for kind, path in ADDRESSES}

    answers = {path: ask(visitor, "get", path_of(path, alices, kinds[path]))[0] for path in pages}

    shown = {path for path, status in answers.items() if status == 200}
    assert {"leaderboard/{key}/", "leaderboard/{key}/battles/", "battles/{key}/", "api/boards/{key}/export/"} <= shown
    assert "Alice's secret campaign" not in ask(visitor, "get", f"/battles/{alices['battles']}/")[1]
    assert not Session.objects.exists()
