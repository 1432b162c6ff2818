"""Unlisted links: read by whoever has one, until it expires, is revoked, or its owner has left."""

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts.errors import Invalid
from accounts.models import AuditEntry
from experiments.models import Experiment, Export, Run, ShareLink
from experiments.runs.reports import jobs
from experiments.runs.sharing import sharing
from tests.cases import each_case
from tests.fixtures import signed_in


@pytest.fixture
def run(played):
    return played(max_turns=1)


@pytest.fixture
def link(run, alice):
    return sharing.create_link(run.experiment, by=alice)


def test_it_is_made_on_a_page_that_shows_it_once(run, alice):
    browser = signed_in(alice)
    page = browser.post(f"/experiments/{run.experiment_id}/links/", {"days": "3"})

    address = re.search(r'value="(http://testserver/s/[^"]+/)"', page.content.decode())[1]
    secret = address.split("/")[-2]
    assert page["Cache-Control"] == "no-store"
    assert Client().get(address).status_code == 200
    assert secret not in browser.get(f"/experiments/{run.experiment_id}/sharing/").content.decode()
    assert secret not in str(list(ShareLink.objects.values())) + str(list(AuditEntry.objects.values()))


@each_case("end", ["revoked", "expired", "left"])
def test_it_ends_at_once(run, link, alice, end):
    row, secret = link
    if end == "revoked":
        signed_in(alice).post(f"/links/{row.pk}/revoke/")
    elif end == "expired":
        ShareLink.objects.update(expires=timezone.now() - timedelta(seconds=1))
    else:
        alice.is_active = False
        alice.save()

    for address in (f"/s/{secret}/", f"/s/{secret}/runs/{run.pk}/"):
        answer = Client().get(address)
        assert answer.status_code == 404
        assert "does not work" in answer.content.decode()


def test_a_visitor_reads_the_experiment_and_its_run_and_nothing_else_and_a_guess_says_nothing(run, link, arena):
    visitor, (_row, secret) = Client(), link
    other = Run.objects.create(experiment=arena(), seed=1)

    listed = visitor.get(f"/s/{secret}/")
    report = visitor.get(f"/s/{secret}/runs/{run.pk}/")

    assert f"/s/{secret}/runs/{run.pk}/" in listed.content.decode()
    assert run.messages.first().text[:40] in report.content.decode()
    assert report["Content-Disposition"] == "inline"
    assert "sandbox" in report["Content-Security-Policy"]
    for answer in (listed, report):
        assert "noindex" in answer["X-Robots-Tag"]
        assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert visitor.get(f"/runs/{run.pk}/").status_code == 302
    assert visitor.get(f"/s/{secret}/runs/{other.pk}/").status_code == 404, "of another experiment"

    row, secret = link
    for guess in ("x", secret[:-1], secret + "x", row.hint, row.digest):
        answer = Client().get(f"/s/{guess}/")

        assert answer.status_code == 404
        assert "does not work" in answer.content.decode()
        assert row.experiment.title not in answer.content.decode()


def test_the_api_makes_lists_and_revokes_them(run, alice):
    browser = signed_in(alice)
    at = f"/api/experiments/{run.experiment_id}/links/"

    for days in (0, 366):
        assert browser.post(at, {"days": days}, content_type="application/json").status_code == 400
        with pytest.raises(Invalid):
            sharing.create_link(run.experiment, by=alice, days=days)
    made = browser.post(at, {"days": 2}, content_type="application/json").json()
    assert Client().get(made["address"]).status_code == 200
    [listed] = browser.get(at).json()["results"]
    assert listed["id"] == made["id"]
    assert "address" not in listed
    assert browser.delete(f"/api/links/{made['id']}/").status_code == 204

    assert Client().get(made["address"]).status_code == 404
    deeds = AuditEntry.objects.filter(action__startswith="link_").values_list("action", flat=True)
    assert sorted(deeds) == ["link_created", "link_opened", "link_revoked"]


@pytest.fixture
def live(run, link, settings):
    """Its run is long, and goes on: something happens before each visit. Returns the visit."""
    settings.EXPORT_DIRECT_MESSAGES = 1
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)

    def visit():
        Run.objects.filter(pk=run.pk).update(last_seq=F("last_seq") + 1)
        return Client().get(f"/s/{link[1]}/runs/{run.pk}/")

    return visit


def test_visits_to_a_run_that_goes_on_make_no_file_each_but_a_newer_one_after_a_while(run, live, alice, make_files):
    signed_in(alice).post(f"/runs/{run.pk}/files/", {"format": "html"})
    for _visit in range(3):
        waiting = live()
        assert (waiting.status_code, waiting["Refresh"]) == (202, "5")
    assert sorted(Export.objects.values_list("format", flat=True)) == ["html", "html-link"], "its owner has another"
    make_files()
    linked = Export.objects.filter(format="html-link")

    shown = live()
    assert shown.status_code == 200, "as it was a moment ago"
    assert run.messages.first().text[:40] in b"".join(shown).decode()
    assert linked.count() == 1
    linked.update(ended=timezone.now() - jobs.LEAST_AGE)
    assert live().status_code == 202
    assert linked.count() == 2
    make_files()
    newest = linked.latest("created")
    newest.path.unlink()
    assert live().status_code == 202, "it was removed"
    assert linked.filter(state=Export.State.QUEUED).count() == 1


def test_a_file_that_could_not_be_made_is_not_tried_at_every_visit(live):
    live()
    Export.objects.update(state=Export.State.FAILED, ended=timezone.now())

    assert "could not be made" in live().content.decode()
    assert Export.objects.count() == 1


def test_colleagues_who_look_make_no_file_each_and_its_owner_has_the_newest(run, live, alice, charlie):
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    for person, files in ((charlie, 1), (alice, 3)):
        browser = signed_in(person)
        for _time in range(3):
            Run.objects.filter(pk=run.pk).update(last_seq=F("last_seq") + 1)
            browser.post(f"/runs/{run.pk}/files/", {"format": "csv"})
            browser.post(f"/api/runs/{run.pk}/files/", {"format": "csv"}, content_type="application/json")

        assert Export.objects.filter(owner=person).count() == files
    Export.objects.update(state=Export.State.FAILED, ended=timezone.now())
    signed_in(charlie).post(f"/runs/{run.pk}/files/", {"format": "csv"})
    assert sorted(Export.objects.filter(owner=charlie).values_list("state", flat=True)) == ["failed", "queued"]
