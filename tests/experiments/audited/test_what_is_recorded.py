"""Each action that the audit log names is done once and found in it once; no entry holds a secret."""

import copy
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from uuid import uuid4

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts import audit, invitations, projects, roles
from accounts.models import ApiToken, AuditEntry, Membership, Project
from accounts.tokens import create_token, revoke_token
from experiments.engine import keys
from experiments.engine.leases import claim, finish
from experiments.engine.recording import Lease
from experiments.lab.budgets import budgeting
from experiments.lab.catalog import defaults, models, providers
from experiments.lab.keys import keyring
from experiments.lab.webhooks import hooks
from experiments.library import presets
from experiments.library.datasets import contestants, demonstration, making
from experiments.models import Battle, Provider, Run, SeatedPerson
from experiments.review import curation
from experiments.runs import actions, removal
from experiments.runs.seats import turns
from experiments.runs.sharing import sharing
from experiments.workflows.base.events import BudgetReached
from experiments.workflows.base.replay import End
from experiments.workflows.battles.campaign import voiding
from experiments.workflows.battles.campaign.boards import model_board
from experiments.workflows.coding.pages import voiding as cycle_voiding
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reviews import reviewed
from tests.fixtures import PASSWORD, add_model, signed_in

Action = AuditEntry.Action
KEY = "sk-canary-7f3a9c55e1d24b08"
WRONG = "a-wrong-password-0815"


@pytest.fixture
def lab(provider, alice, charlie, admin, settings, tmp_path):
    """Alice's things, and Ada who decides. secrets: what must be in no entry."""
    settings.IMAGES_DIR = tmp_path
    run = reviewed.record(alice).run
    project = Project.objects.create(name="Solar villages")
    Membership.objects.create(project=project, user=alice, role="lead")
    people = {"alice": alice, "charlie": charlie, "ada": admin, "browser": signed_in(alice)}
    things = {"run": run, "experiment": run.experiment, "project": project}
    things |= {"provider": Provider.objects.first(), "at": provider.base_url}
    return SimpleNamespace(**people, **things, secrets=[PASSWORD, WRONG, KEY])


def sign_in(lab, password=PASSWORD):
    browser = Client()
    browser.post("/sign-in/", {"username": "alice", "password": password})
    return browser


def token(lab):
    text = create_token(lab.alice, name="script")
    lab.secrets.append(text)
    return text


def use_token(lab):
    program = Client(headers={"authorization": f"Bearer {token(lab)}"})
    assert [program.get("/api/runs/").status_code for _ in range(3)] == [200] * 3


def key(lab):
    return keyring.add(by=lab.alice, provider=lab.provider, key=KEY)


def use_key(lab):
    """Two calls of a run are one use."""
    key(lab)
    for _ in range(2):
        keys.note_use(keys.key_for(lab.provider, lab.alice.pk), lab.run.pk, lab.alice)


def try_key(lab):
    Provider.objects.filter(pk=lab.provider.pk).update(base_url=lab.at)
    keyring.test(key(lab), by=lab.alice)


def link(lab):
    made, secret = sharing.create_link(lab.experiment, by=lab.alice)
    lab.secrets.append(secret)
    return made, secret


def factor(lab):
    secret = generate_totp_secret()
    lab.secrets.append(secret)
    return TOTP.activate(lab.alice, secret)


def invitation(lab):
    made, secret = invitations.invite(by=lab.ada, role="researcher")
    lab.secrets.append(secret)
    return made


def webhook(lab):
    made, secret = hooks.add(by=lab.alice, url="https://example.org/in?token=of-the-path", events=["run.failed"])
    lab.secrets += [secret, "of-the-path"]
    return made


def text(lab):
    return demonstration.make_text(lab.alice)


def contestant(lab):
    return text(lab).contestants.first()


def preset(lab):
    return presets.save_preset(owner=lab.alice, name="P", context="Be brief.")


def battle(lab):
    dataset = text(lab)
    board = model_board(dataset, add_model("sim/judge:first=0"), prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    return Battle.objects.create(board=board, sample=dataset.samples.first(), left=left, right=right, winner="left")


def cycle(lab):
    return contest_rows.contest(lab.alice, 1).run.cycles.get()


def reach_budget(lab):
    budgeting.set_budget(lab.experiment, by=lab.alice, cost=Decimal(1))
    Run.objects.filter(pk=lab.run.pk).update(state="queued")
    held = claim(lab.run.pk, lambda event: None)
    left = {"cost_left": "0", "tokens_left": None, "cost": "1", "tokens": 10, "is_unpriced": False}
    reached = BudgetReached(id=str(uuid4()), name="Alice's", kind="person", period="month", **left, ask=[], admins=[])
    finish(Lease(held.pk, held.fence, lambda event: None), held, End("budget_person"), was_halted=True, budget=reached)


def answer_for_somebody(lab):
    """Ada answers in the seat of an invited person."""
    Run.objects.filter(pk=lab.run.pk).update(state="waiting", last_seq=1000)
    seated = SeatedPerson.objects.create(experiment=lab.experiment, seat="A", expires=timezone.now())
    asked = {"seat": "A", "until": "2999-01-01T00:00:00+00:00", "shown": [], "schema": None}
    step = lab.run.steps.create(key="asked", kind="ask", purpose="reply", seat="A", data={"person": asked})
    turns.answer(seated, by=lab.ada, step_id=step.pk, text="For them.")


def download(path, browser=None):
    def fetch(lab):
        answer = (browser or lab.browser).get(path.format(run=lab.run.pk, experiment=lab.experiment.pk))
        assert answer.status_code == 200

    return fetch


def read_in_admin(path):
    return lambda lab: signed_in(lab.ada).get(f"/admin/experiments/{path.format(run=lab.run.pk)}")


def download_by_token(lab):
    download("/api/runs/{run}/export/?format=csv", Client(headers={"authorization": f"Bearer {token(lab)}"}))(lab)


def voided(made, void, by):
    void(made, by=by, reason="wrong")
    return made


def approved(lab, then=None):
    curation.approve(lab.run, by=lab.ada)
    if then:
        then(lab.run, by=lab.ada)


def added_provider(lab):
    new = Provider(name="local", base_url=lab.at, allow_private=True)
    return providers.add(new, by=lab.ada, key=KEY)


def submitted(lab, then=None):
    curation.submit(lab.run, by=lab.alice)
    if then:
        then(lab.run, by=lab.ada, reason="Name the models.")


ACTIONS = [
    ("signing in", Action.SIGNED_IN, sign_in),
    ("a wrong password", Action.SIGN_IN_FAILED, lambda lab: sign_in(lab, WRONG)),
    ("signing out", Action.SIGNED_OUT, lambda lab: sign_in(lab).post("/sign-out/")),
    ("a person made by hand", Action.SIGNED_UP, None),
    ("an invitation", Action.INVITED, invitation),
    ("one taken back", Action.INVITATION_REVOKED, lambda lab: invitations.revoke(invitation(lab), by=lab.ada)),
    ("another password", Action.PASSWORD_CHANGED, None),
    ("an address", Action.EMAIL_CHANGED, lambda lab: address(lab, "action_add")),
    ("an address less", Action.EMAIL_CHANGED, lambda lab: address(lab, "action_remove")),
    ("a second factor", Action.FACTOR_ADDED, None),
    ("one less", Action.FACTOR_REMOVED, lambda lab: factor(lab) and roles.remove_factors(lab.alice, by=lab.ada)),
    ("a token", Action.TOKEN_CREATED, token),
    ("its first use", Action.TOKEN_USED, use_token),
    ("its end", Action.TOKEN_REVOKED, lambda lab: token(lab) and revoke_token(ApiToken.objects.get(), by=lab.alice)),
    ("a refusal", Action.RIGHTS_REFUSED, lambda lab: lab.browser.get("/admin/login/")),
    ("a role", Action.ROLE_CHANGED, lambda lab: roles.change_role(lab.alice, "curator", by=lab.ada)),
    ("a deactivation", Action.PERSON_DEACTIVATED, lambda lab: roles.deactivate(lab.charlie, by=lab.ada)),
    ("a project", Action.PROJECT_CREATED, lambda lab: projects.create(by=lab.alice, name="Other")),
    ("its end", Action.PROJECT_CHANGED, lambda lab: projects.archive(lab.project, by=lab.alice)),
    ("a lead", Action.MEMBER_CHANGED, lambda lab: projects.set_member(lab.project, lab.charlie, "lead", by=lab.alice)),
    ("sharing", Action.SHARED, lambda lab: sharing.share(lab.experiment, by=lab.alice, visibility="lab")),
    ("a shared dataset", Action.SHARED, lambda lab: making.publish(text(lab), by=lab.alice, visibility="lab")),
    ("a shared preset", Action.SHARED, lambda lab: presets.share_preset(preset(lab), by=lab.alice)),
    ("a queue", Action.SHARED, lambda lab: reviewed.queue(lab.alice, lab.charlie, played=False)),
    ("a link", Action.LINK_CREATED, link),
    ("its end", Action.LINK_REVOKED, lambda lab: sharing.revoke_link(link(lab)[0], by=lab.alice)),
    ("opening it", Action.LINK_OPENED, lambda lab: Client().get(f"/s/{link(lab)[1]}/")),
    ("a key", Action.KEY_ADDED, key),
    ("another key", Action.KEY_REPLACED, lambda lab: keyring.replace(key(lab), by=lab.alice, key=KEY + "2")),
    ("its test", Action.KEY_TESTED, try_key),
    ("its use", Action.KEY_USED, use_key),
    ("its end", Action.KEY_REMOVED, lambda lab: keyring.remove(key(lab), by=lab.alice)),
    ("rotation", Action.KEYS_ROTATED, lambda lab: call_command("rotate_keys", verbosity=0)),
    ("a provider", Action.PROVIDER_ADDED, added_provider),
    ("its end", Action.PROVIDER_CHANGED, lambda lab: providers.enable(lab.provider, by=lab.ada, enabled=False)),
    ("its list of models", Action.MODELS_SYNCED, lambda lab: providers.sync(added_provider(lab), by=lab.ada)),
    ("one less", Action.PROVIDER_REMOVED, lambda lab: providers.remove(added_provider(lab), by=lab.ada)),
    ("a model", Action.MODEL_CHANGED, lambda lab: models.add(added_provider(lab), "large", by=lab.ada)),
    ("a default model", Action.DEFAULTS_CHANGED,
     lambda lab: defaults.choose({"judge": add_model("sim/judge")}, by=lab.ada)),
    ("a budget", Action.BUDGET_CHANGED, lambda lab: budgeting.set_budget(lab.experiment, by=lab.alice, tokens=10)),
    ("the end of one", Action.BUDGET_REACHED, reach_budget),
    ("a webhook", Action.WEBHOOK_CREATED, webhook),
    ("its secret", Action.WEBHOOK_CHANGED, lambda lab: lab.secrets.append(hooks.rotate(webhook(lab), by=lab.alice))),
    ("its pause", Action.WEBHOOK_CHANGED, lambda lab: hooks.set_active(webhook(lab), by=lab.alice, is_active=False)),
    ("its end", Action.WEBHOOK_REMOVED, lambda lab: hooks.remove(webhook(lab), by=lab.alice)),
    ("a report", Action.EXPORTED, download("/runs/{run}/report/md/")),
    ("an export", Action.EXPORTED, download("/runs/{run}/export/jsonl/")),
    ("one by the API", Action.EXPORTED, download_by_token),
    ("usage", Action.EXPORTED, download("/usage.csv")),
    ("values of runs", Action.EXPORTED, download("/experiments/{experiment}/values.csv")),
    ("battles", Action.EXPORTED, lambda lab: call_command("export_battles", battle(lab).board.slug, output=None)),
    ("the record itself", Action.EXPORTED, lambda lab: signed_in(lab.ada).get("/audit/audit.csv")),
    ("a run that is not shared", Action.RUN_READ, read_in_admin("run/{run}/change/")),
    ("a seat", Action.SEAT_ANSWERED, answer_for_somebody),
    ("a search of all runs", Action.RUNS_SEARCHED, read_in_admin("message/?q=panels")),
    ("a void run", Action.VOIDED, lambda lab: curation.exclude(lab.run, by=lab.ada, reason="wrong")),
    ("a void battle", Action.VOIDED, lambda lab: voided(battle(lab), voiding.void, lab.alice)),
    ("a void cycle", Action.VOIDED, lambda lab: voided(cycle(lab), cycle_voiding.void, lab.ada)),
    ("void cycles", Action.VOIDED,
     lambda lab: cycle(lab) and cycle_voiding.void_all(by=lab.ada, reason="wrong", count=1)),
    ("a void contestant", Action.VOIDED, lambda lab: voided(contestant(lab), contestants.void, lab.alice)),
    ("a run again", Action.RESTORED,
     lambda lab: [curation.exclude(lab.run, by=lab.ada, reason="wrong"), curation.include(lab.run, by=lab.ada)]),
    ("a battle again", Action.RESTORED,
     lambda lab: voiding.restore(voided(battle(lab), voiding.void, lab.alice), by=lab.alice)),
    ("a cycle again", Action.RESTORED,
     lambda lab: cycle_voiding.restore(voided(cycle(lab), cycle_voiding.void, lab.ada), by=lab.ada)),
    ("a contestant again", Action.RESTORED,
     lambda lab: contestants.restore(voided(contestant(lab), contestants.void, lab.alice), by=lab.alice)),
    ("a contestant", Action.RENAMED,
     lambda lab: contestants.describe(contestant(lab), by=lab.alice, label="Other", link="")),
    ("a contestant in the register", Action.CONTESTANT_CHANGED,
     lambda lab: contestants.enter(contestant(lab), by=lab.alice, quantization="fp8")),
    ("a title", Action.RENAMED, lambda lab: actions.rename(lab.experiment, by=lab.alice, title="Other")),
    ("an archived run", Action.ARCHIVED, lambda lab: actions.archive([lab.run], by=lab.alice)),
    ("a deleted run", Action.DELETED, lambda lab: removal.remove([lab.run], by=lab.alice)),
    ("a run for the curators", Action.SUBMITTED, submitted),
    ("its return", Action.RETURNED, lambda lab: submitted(lab, curation.give_back)),
    ("an approval", Action.APPROVED, approved),
    ("one less", Action.DISAPPROVED, lambda lab: approved(lab, partial(curation.approve, is_approved=False))),
    ("publishing", Action.PUBLISHED, lambda lab: approved(lab, curation.publish)),
    ("withdrawing", Action.WITHDRAWN,
     lambda lab: [approved(lab, curation.publish), curation.withdraw(lab.run, by=lab.ada)]),
]  # fmt: skip


def address(lab, action):
    EmailAddress.objects.create(user=lab.alice, email="one@lab.example", primary=True, verified=True)
    EmailAddress.objects.create(user=lab.alice, email="two@lab.example")
    which = "three" if action == "action_add" else "two"
    lab.browser.post("/account/email/", {"email": f"{which}@lab.example", action: "1"})


@each_case(("name", "action", "do"), [one for one in ACTIONS if one[2]])
def test_an_action_is_in_the_record_once_and_without_a_secret(lab, name, action, do):
    lab = copy.deepcopy(lab)
    for cache in caches.all():
        cache.clear()
    do(lab)

    assert AuditEntry.objects.filter(action=action).count() == 1
    entries = str(list(AuditEntry.objects.values()))
    assert [secret for secret in lab.secrets if secret in entries] == []


def test_every_action_is_tried():
    """None: done in the tests of accounts, with the letters and codes that they take, as is a reactivation."""
    assert {action for _name, action, _do in ACTIONS} | {Action.PERSON_REACTIVATED} == set(Action)


def test_a_file_that_is_loaded_again_and_again_is_one_entry_and_a_page_is_none(lab):
    lab.browser.get(f"/runs/{lab.run.pk}/")
    lab.browser.get(f"/runs/{lab.run.pk}/report/none/")
    for _ in range(3):
        lab.browser.get(f"/runs/{lab.run.pk}/report/md/")

    entry = AuditEntry.objects.get(action=Action.EXPORTED)
    assert (entry.actor, entry.target) == ("alice", f"run:{lab.run.pk}")
    assert entry.name.endswith(".md")


def test_a_run_is_left_out_with_its_battles_as_one_action(lab):
    made = battle(lab)
    Battle.objects.filter(pk=made.pk).update(run=lab.run)
    curation.exclude(lab.run, by=lab.ada, reason="wrong")
    curation.include(lab.run, by=lab.ada)

    assert list(AuditEntry.objects.order_by("pk").values_list("target", flat=True))[-2:] == [f"run:{lab.run.pk}"] * 2
    assert Battle.objects.get().void_reason == ""


def test_where_the_record_cannot_be_written_nothing_is_done(lab, monkeypatch):
    monkeypatch.setattr(audit, "record", lambda *_, **__: 1 / 0)
    factor(lab)
    browser = signed_in(lab.alice)
    browser.raise_request_exception = False

    assert browser.post("/account/second-factor/totp/deactivate/").status_code == 500
    assert Authenticator.objects.filter(user=lab.alice, type="totp").exists()


def test_the_api_reads_it_newest_first_filtered_and_page_by_page(lab):
    def ask(query):
        return Client().get(f"/api/audit/{query}", headers={"authorization": f"Bearer {bearer}"})

    bearer = create_token(lab.ada)
    for number in range(3):
        audit.record(audit.Action.EXPORTED, by=lab.alice, name=f"file {number}", path="/x/")
    audit.record(audit.Action.SHARED, by=lab.alice, name="other")

    first = ask("?action=exported&person=ali&page_size=2").json()
    second = ask(f"?{first['next'].partition('?')[2]}").json()

    assert [one["name"] for one in first["results"] + second["results"]] == ["file 2", "file 1", "file 0"]
    assert first["results"][0]["detail"] == {"path": "/x/"}
    for query in ("?since=yesterday", "?action=nothing"):
        assert (ask(query).status_code, ask(query)["Content-Type"]) == (400, "application/problem+json")
