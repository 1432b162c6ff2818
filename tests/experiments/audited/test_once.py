"""One deed is one entry, and there is neither without the other."""

from allauth.mfa.models import Authenticator
from django.test import Client

from accounts import audit
from accounts.models import AuditEntry
from experiments.models import Battle
from experiments.reviews import curation
from tests.experiments.audited.test_every_deed import battle, factor
from tests.fixtures import signed_in

Action = AuditEntry.Action


def test_a_file_that_is_loaded_again_and_again_is_one_entry(lab):
    for _ in range(3):
        lab.browser.get(f"/runs/{lab.run.pk}/report/md/")

    entry = AuditEntry.objects.get(action=Action.EXPORTED)
    assert (entry.actor, entry.target) == ("alice", f"run:{lab.run.pk}")
    assert entry.name.endswith(".md")


def test_what_a_page_shows_is_no_export(lab):
    lab.browser.get(f"/runs/{lab.run.pk}/")
    lab.browser.get(f"/runs/{lab.run.pk}/report/none/")

    assert not AuditEntry.objects.filter(action=Action.EXPORTED).exists()


def test_a_run_is_left_out_with_its_battles_as_one_deed(lab):
    made = battle(lab)
    Battle.objects.filter(pk=made.pk).update(run=lab.run)
    curation.exclude(lab.run, by=lab.ada, reason="wrong")
    curation.include(lab.run, by=lab.ada)

    assert list(AuditEntry.objects.order_by("pk").values_list("target", flat=True))[-2:] == [f"run:{lab.run.pk}"] * 2
    assert Battle.objects.get().void_reason == ""


def test_a_second_factor_is_there_only_with_its_entry(lab, monkeypatch):
    """Where the record cannot be written, the deed is not done."""
    monkeypatch.setattr(audit, "record", _breaks)
    factor(lab)
    browser = Client(raise_request_exception=False)
    browser.force_login(lab.alice)
    session = browser.session
    session.update(signed_in(lab.alice).session.items())
    session.save()
    answer = browser.post("/account/second-factor/totp/deactivate/")

    assert answer.status_code == 500
    assert Authenticator.objects.filter(user=lab.alice, type="totp").exists()


def _breaks(*_args, **_more):
    raise RuntimeError("the record cannot be written")
