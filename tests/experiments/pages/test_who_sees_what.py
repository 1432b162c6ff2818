"""Who sees which page: visitors sign in first, Alice sees hers, Charlie sees what does not exist."""

from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from experiments.models import Export, Run
from tests.cases import each_case

pytestmark = pytest.mark.django_db

NOWHERE = UUID("00000000-0000-7000-8000-000000000000")
PAGES = ["arena", "runs", "account"]
OF_RUN = ["run", "run-status", "call"]
MOVES = ["run-stop", "run-resume"]


@pytest.fixture
def run(played):
    return played(max_turns=1)


def address(name, run):
    if name in PAGES:
        return reverse(name)
    return reverse(name, args=[run.calls.first().pk if name == "call" else run.pk])


@each_case("name", [*PAGES, *OF_RUN])
def test_a_visitor_is_asked_to_sign_in_and_comes_back(visitor, run, name):
    path = address(name, run)

    assert visitor.get(path)["Location"] == f"{reverse('login')}?next={path}"


@pytest.mark.parametrize("name", ["arena", "account", *MOVES])
def test_a_visitor_changes_nothing(visitor, arena, start, name):
    run = start(arena())
    response = visitor.post(address(name, run), {"name": "x", "days": 5})

    assert response["Location"].startswith(reverse("login"))
    assert Run.objects.get().state == Run.State.QUEUED


def test_the_front_door_leads_to_the_arena(browser):
    assert browser.get("/")["Location"] == reverse("arena")


@each_case("name", [*PAGES, *OF_RUN])
def test_alice_sees_hers(browser, run, name):
    response = browser.get(address(name, run))

    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"


@each_case("name", OF_RUN)
def test_charlie_sees_what_does_not_exist(charlies, run, name):
    answer, empty = charlies.get(address(name, run)), charlies.get(reverse(name, args=[NOWHERE]))

    assert (answer.status_code, empty.status_code) == (404, 404)
    assert strip(answer) == strip(empty)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("state", [Run.State.QUEUED, Run.State.FAILED])
def test_charlie_moves_nothing(charlies, arena, start, name, state, nobody_is_woken):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=state)
    woken = list(nobody_is_woken)

    assert charlies.post(address(name, run)).status_code == 404
    assert (Run.objects.get().state, nobody_is_woken) == (state, woken)


def test_charlie_finds_nothing_in_his_list(charlies, run):
    text = charlies.get(reverse("runs"), {"search": "solar"}).content.decode()

    assert str(run.pk) not in text
    assert run.experiment.title not in text


def test_what_does_not_exist_is_a_page_for_people(browser, read):
    response = browser.get("/nothing/of/the/kind/")

    assert response.status_code == 404
    assert "There is nothing here" in read(response).text


@pytest.mark.parametrize("name", MOVES)
def test_changes_are_posted(browser, arena, start, name):
    run = start(arena())

    assert browser.get(address(name, run)).status_code == 405
    assert Run.objects.get().state == Run.State.QUEUED


@pytest.mark.parametrize("name", ["arena", "account", *MOVES, "logout", "set-language"])
def test_a_form_of_another_site_changes_nothing(alice, arena, start, name, read):
    run = start(arena())
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(alice)

    response = careful.post(address(name, run) if name not in {"logout", "set-language"} else reverse(name))

    assert response.status_code == 403
    assert "Nothing was changed" in read(response).text
    assert Run.objects.get().state == Run.State.QUEUED


def test_a_deactivated_person_sees_nothing(browser, alice, run):
    type(alice).objects.filter(pk=alice.pk).update(is_active=False)

    assert browser.get(address("run", run)).status_code == 302


FILE_PAGES = ["run-report", "run-export", "file", "file-download"]


@pytest.fixture
def file(run, alice, make_files):
    """A file of Alice's run, ready to be fetched."""
    export = Export.objects.create(run=run, owner=alice, format="csv", language="en", last_seq=1, name="alices.csv")
    make_files()
    return export


def file_address(name, run, file):
    formats = {"run-report": "html", "run-export": "csv"}
    return reverse(name, args=[run, formats[name]] if name in formats else [file])


@each_case("name", FILE_PAGES)
def test_charlie_finds_no_file(charlies, run, file, name):
    answer, empty = (
        charlies.get(file_address(name, run.pk, file.pk)),
        charlies.get(file_address(name, NOWHERE, NOWHERE)),
    )

    assert (answer.status_code, empty.status_code) == (404, 404)
    assert strip(answer) == strip(empty)


@each_case("name", FILE_PAGES)
def test_a_visitor_signs_in_before_a_file(visitor, run, file, name):
    path = file_address(name, run.pk, file.pk)

    assert visitor.get(path)["Location"] == f"{reverse('login')}?next={path}"


def test_charlie_asks_for_no_file(charlies, run):
    assert charlies.post(reverse("run-files", args=[run.pk]), {"format": "csv"}).status_code == 404
    assert not Export.objects.exists()


@pytest.mark.parametrize("name", ["run-files", "run-import"])
def test_files_and_imports_are_posted_by_ones_own_form(browser, visitor, alice, run, name, read):
    path = reverse(name, args=[run.pk] if name == "run-files" else [])
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(alice)

    assert browser.get(path).status_code == (405 if name == "run-files" else 200)
    assert visitor.post(path)["Location"].startswith(reverse("login"))
    assert careful.post(path).status_code == 403
    assert Run.objects.get() == run


def strip(response):
    """The page without what differs between any two requests: form tokens and its own address."""
    lines = response.content.decode().splitlines()
    return [line for line in lines if "csrfmiddlewaretoken" not in line and 'name="next"' not in line]
