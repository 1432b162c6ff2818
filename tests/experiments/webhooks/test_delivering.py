"""From what happens to a receiver: whom it is told, signed, at least once, and no further than allowed."""

import os
import re
import socket
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts import projects, roles
from accounts.crypto import decrypt
from accounts.models import Membership, Project
from experiments.engine.events import emit
from experiments.engine.reservations import over_budget
from experiments.lab.webhooks import delivering, hooks, outbox, sending
from experiments.lab.webhooks.outbox import Kind
from experiments.lab.webhooks.sending import Answer, Letter
from experiments.library.datasets import demonstration, reading
from experiments.models import Dataset, Experiment, Export, Upload, Webhook, WebhookDelivery
from experiments.review import answers
from experiments.runs import actions
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import REPORTS
from experiments.runs.steering import branching
from experiments.workflows.base.events import (
    BudgetReached,
    ExperimentError,
    ExperimentStarted,
    ExperimentStopped,
    JudgeEvaluationCompletedData,
)
from tests.arenasite.platforms import free_port
from tests.cases import each_case
from tests.experiments.reviews import reviewed
from tests.experiments.webhooks.conftest import Receiver, hook_of
from tests.fixtures import wait_until
from tests.sources import ROOT

State, Problem = WebhookDelivery.State, WebhookDelivery.Problem


def the_only():
    return WebhookDelivery.objects.get()


def is_signed(received, secret):
    headers = {name.lower(): value for name, value in received.headers.items()}
    expected = sending.signature(secret, headers["webhook-id"], headers["webhook-timestamp"], received.body)
    return expected in headers["webhook-signature"].split()


@pytest.mark.databases
def test_a_delivery_arrives_signed_as_in_the_published_example_and_its_answer_is_kept(hook, alice, receiver, deliver):
    """The vector is of the Standard Webhooks reference libraries."""
    secret, id_ = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    signed = sending.signature(secret, id_, "1614265330", b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    hooks.test(hook, by=alice)
    deliver()
    sent, row = receiver.received[0], the_only()
    assert is_signed(sent, decrypt(hook.secret))
    assert receiver.told[0]["id"] == str(row.pk) == sent.headers["webhook-id"]
    assert (row.state, row.status, row.answer, row.problem) == (State.DELIVERED, 200, "ok", "")
    assert row.seconds > 0


def test_for_a_day_an_older_secret_signs_beside_the_newer(hook, alice, receiver, deliver):
    older = decrypt(hook.secret)
    newer = hooks.rotate(hook, by=alice)
    hooks.test(hook, by=alice)
    deliver()
    Webhook.objects.update(older_until=timezone.now())
    delivering.sweep()
    hooks.test(hook, by=alice)
    deliver()

    [both, one] = receiver.received
    assert is_signed(both, older)
    assert is_signed(both, newer)
    assert is_signed(one, newer)
    assert not is_signed(one, older)
    assert Webhook.objects.get().older_secret == ""


@pytest.mark.databases
def test_what_failed_is_sent_again_under_the_same_id_after_growing_waits_and_at_last_when_somebody_asks(
    hook, alice, receiver, deliver
):
    waits = [delivering.wait_after(tries) for tries in range(1, delivering.MOST_TRIES)]
    assert waits[:-4] == sorted(waits[:-4])
    assert 4 <= waits[0] <= 6
    assert 20 * 3600 < sum(waits) < 32 * 3600
    assert delivering.wait_after(delivering.MOST_TRIES) is None

    receiver.status = 500
    hooks.test(hook, by=alice)
    deliver()
    failed = the_only()
    deliver()  # not before its time
    assert (failed.state, failed.status, failed.problem) == (State.WAITING, 500, Problem.REFUSED)
    assert failed.next_at > timezone.now() + timedelta(seconds=3)
    assert len(receiver.received) == 1

    WebhookDelivery.objects.update(tries=delivering.MOST_TRIES - 1, next_at=timezone.now())
    deliver()
    assert the_only().state == State.FAILED
    receiver.status = 204
    assert hooks.send_again(the_only(), by=alice)
    deliver()
    assert (len(receiver.received), the_only().state, the_only().attempt) == (3, State.DELIVERED, 3)
    assert len({one["id"] for one in receiver.told}) == 1


@pytest.mark.databases
def test_what_a_killed_sender_had_under_way_is_sent_again_and_its_last_word_does_not_count(hook, alice, deliver):
    hooks.test(hook, by=alice)
    [dead] = delivering._claim()
    assert delivering._claim() == []  # while its lease lasts nobody else sends it
    WebhookDelivery.objects.update(next_at=timezone.now())
    deliver()
    delivering._settle(dead, Answer(Problem.TIMEOUT))

    assert (the_only().state, the_only().pk) == (State.DELIVERED, dead.pk)


def test_a_sender_that_is_asked_to_end_gives_back_what_is_under_way(hook, alice, receiver, settings):
    stop, settings.DRAIN_SECONDS = threading.Event(), 0
    receiver.stands_still, receiver.noticed = True, stop.set
    hooks.test(hook, by=alice)
    letters = [delivering._letter(one) for one in delivering._claim()]
    answers = delivering.asyncio.run(delivering._send(letters, stop))

    assert answers == [None]
    delivering._give_back(the_only())
    assert (the_only().tries, WebhookDelivery.objects.due().count()) == (0, 1)


@pytest.mark.parametrize(
    ("status", "headers", "problem"),
    [(302, {"Location": "http://169.254.169.254/"}, Problem.REDIRECT), (404, {}, Problem.REFUSED), (201, {}, "")],
)
def test_no_redirect_is_followed_only_a_2xx_is_an_acceptance_and_of_a_long_answer_the_beginning_is_kept(
    hook, alice, receiver, deliver, status, headers, problem
):
    secret = decrypt(hook.secret)
    receiver.status, receiver.headers = status, headers
    receiver.body = f"You said {secret}. ".encode() + b"\x00x" * 50_000
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().status, the_only().problem, len(receiver.received)) == (status, problem, 1)
    answer = the_only().answer
    assert secret.removeprefix("whsec_")[:12] not in answer
    assert answer.startswith("You said ")
    assert len(answer.encode()) <= 3 * 2048
    assert "\x00" not in answer


@each_case("url", ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]/", "http://rebinding.example/"])
def test_without_permission_no_private_address_is_connected_to(alice, deliver, monkeypatch, url):
    """What counts is where one connects: a name server may say something else than when the webhook was made. It is not
    tried again by itself.
    """
    hook = hook_of(alice, url)
    Webhook.objects.update(allow_private=False)

    async def resolve(self, host, port, **more):
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("asyncio.base_events.BaseEventLoop.getaddrinfo", resolve)
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().problem, the_only().status) == (Problem.FORBIDDEN, None)
    assert (the_only().state, the_only().tries) == (State.FAILED, 1)


@pytest.mark.system
@each_case("url", ["http://nowhere.invalid/", "http://127.0.0.1:1/", "http://[::1", "http://127.0.0.1:99999/"])
def test_an_address_that_leads_nowhere_ends_nothing(alice, deliver, url):
    hooks.test(hook_of(alice, url), by=alice)
    deliver()

    assert (the_only().state, the_only().problem) == (State.WAITING, Problem.UNREACHABLE)


def test_a_receiver_that_stands_still_holds_up_no_other(hook, alice, receiver, deliver, settings):
    settings.WEBHOOK_SECONDS = 0.1
    receiver.stands_still = True
    for _ in range(3):
        hooks.test(hook, by=alice)
    other = Receiver()
    hooks.test(hook_of(alice, other.url), by=alice)
    deliver()
    other.close()

    assert len(other.received) == 1
    waiting = WebhookDelivery.objects.filter(webhook=hook)
    assert set(waiting.values_list("state", "problem")) == {(State.WAITING, Problem.TIMEOUT)}


def test_a_secret_that_is_lost_is_said_and_nothing_is_sent_unsigned(hook, alice, receiver, deliver):
    Webhook.objects.update(secret="tampered with")
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().problem, receiver.received) == (Problem.UNREADABLE, [])
    assert "whsec" not in repr(Letter("1", "https://a.example/", b"{}", False, ["whsec_AAAA"]))


@pytest.mark.system
def test_the_receiver_of_the_page_takes_what_is_ours_and_refuses_what_is_not(alice, deliver):
    text, port = (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), free_port()
    [code] = re.findall(r"```python\n(.*?)```", text.partition("## Webhooks")[2], re.DOTALL)
    hook = hook_of(alice, f"http://127.0.0.1:{port}/")
    environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": decrypt(hook.secret)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, "the receiver")
        hooks.rotate(hook, by=alice)  # it knows the older secret still
        genuine = hooks.test(hook, by=alice)
        deliver()
        Webhook.objects.update(secret=hooks._encrypted(sending.new_secret()), older_secret="")
        forged = hooks.test(Webhook.objects.get(), by=alice)
        deliver()

        answers = dict(WebhookDelivery.objects.values_list("pk", "status"))
        assert answers == {genuine.pk: 204, forged.pk: 401}
        assert f'"id":"{genuine.pk}"' in process.stdout.readline()
        assert process.stdout.readline().split() == [str(forged.pk), "refused"]
    finally:
        process.kill()
        process.communicate()


def types():
    return list(WebhookDelivery.objects.order_by("pk").values_list("type", flat=True))


@pytest.mark.databases
def test_a_run_tells_whom_it_may_concern_of_its_beginning_end_and_files_and_not_what_was_said(
    hook, alice, arena, start, drive, deliver, receiver
):
    """The engine writes what is to be told and never asks an address."""
    chosen = hook_of(alice, "https://example.org/", events=["run.completed"])
    run = start(arena(max_turns=1))
    drive()
    assert receiver.received == []
    assert chosen.deliveries.get().type == "run.completed"
    chosen.deliveries.all().delete()
    branching.branch(run.messages.first(), by=alice)
    assert types() == ["run.started", "run.completed"], "a branch does not repeat it"
    jobs.request_file(run, by=alice, format_=REPORTS["md"], language="en")
    jobs.make_all(threading.Event())
    deliver()

    begun, ended, made = sorted(receiver.told, key=lambda one: one["created"])  # they travel side by side
    assert [begun["type"], ended["type"], made["type"]] == ["run.started", "run.completed", "export.ready"]
    assert (begun["run"], begun["experiment"], made["run"]) == (str(run.pk), str(run.experiment_id), str(run.pk))
    assert ended["data"]["workflow"] == "arena"
    assert ended["data"]["reason"] == "max_turns"
    assert ended["data"]["path"] == f"/runs/{run.pk}/"
    assert str(Export.objects.get().pk) in str(made["data"])
    sent = "".join(one.body.decode() for one in receiver.received)
    assert not any(message.text[:20] in sent for message in run.messages.all())
    assert run.experiment.title not in sent
    assert run.config["prompt"] not in sent


def test_a_manual_run_tells_that_it_waits_and_what_for(hook, arena, start, drive):
    run = start(arena(mode="manual"))
    drive()
    actions.stop(run, by=run.experiment.owner)

    assert types() == ["run.started", "run.waiting", "run.stopped"]
    waiting = WebhookDelivery.objects.get(type="run.waiting")
    assert '"reason":' in waiting.body
    assert run.config["prompt"] not in waiting.body


def test_a_failed_run_a_reached_budget_and_a_silent_judge_are_told(hook, arena, start, alice):
    run = start(arena())
    left = {"cost_left": "0", "tokens_left": None, "cost": "1", "tokens": 1, "is_unpriced": False}
    reached = BudgetReached(id="b", kind="person", name="Alice's", period="month", **left, ask=[], admins=[])
    refusal = over_budget(reached)
    silent = {"id": "j", "turn": 1, "subject": "A", "judge": "J", "scores": None, "rationale": "words"}
    judgments = [{**silent, "unscored_reason": reason} for reason in ("It said: secret words", "")]
    with transaction.atomic():
        emit(
            run.pk,
            JudgeEvaluationCompletedData(key="turn/1/judge", turn=1, judgments=judgments),
            ExperimentStopped(state="stopped", reason="budget_person", message="", budget=refusal.budget),
            ExperimentError(state="failed", reason="bad_key", message="words of a provider"),
        )

    assert types() == ["judgment.failed", "run.stopped", "budget.reached", "run.failed"]
    assert "words" not in "".join(WebhookDelivery.objects.values_list("body", flat=True))


def test_the_same_thing_is_told_once_and_what_was_rolled_back_never(hook, alice):
    for _ in range(2):
        with transaction.atomic():
            outbox.tell(alice.pk, outbox.News(Kind.RUN_STARTED, "same", {}))
    with transaction.atomic():
        outbox.tell(alice.pk, outbox.News(Kind.RUN_STARTED, "another", {}))
        transaction.set_rollback(True)

    assert types() == ["run.started"]


@pytest.fixture
def project(alice, charlie):
    made = Project.objects.create(name="Solar villages")
    Membership.objects.create(project=made, user=charlie, role=Membership.Role.LEAD)
    Membership.objects.create(project=made, user=alice, role=Membership.Role.MEMBER)
    return made


@pytest.fixture
def of_project(project, charlie, receiver):
    return hook_of(charlie, receiver.url, project)


def begin(run, **placed):
    Experiment.objects.filter(pk=run.experiment_id).update(**placed)
    with transaction.atomic():
        emit(run.pk, ExperimentStarted(state="running"))


@pytest.mark.databases
def test_a_project_is_told_of_what_its_members_see_and_its_lead_of_nothing_of_others(
    of_project, project, charlie, receiver, arena, start
):
    own = hook_of(charlie, receiver.url)
    for visibility, told in (("project", 1), ("lab", 2), ("private", 2)):
        begin(start(arena()), project=project, visibility=visibility)
        assert len(types()) == told, visibility
    begin(start(arena()))  # of no project
    assert (len(types()), own.deliveries.exists()) == (2, False)


@each_case("leaves", ["left", "watches", "deactivated"])
def test_a_webhook_ceases_with_its_makers_place_also_for_what_waited(
    of_project, project, arena, start, charlie, alice, admin, deliver, receiver, leaves
):
    run = start(arena())
    begin(run, project=project, visibility="project")
    projects.place(project, alice, Membership.Role.LEAD, by=charlie)
    if leaves == "left":
        projects.remove_member(project, charlie, by=charlie)
    elif leaves == "watches":
        projects.set_member(project, charlie, "watcher", by=alice)
    else:
        roles.deactivate(charlie, by=admin)
    begin(run)
    deliver()
    delivering.sweep()

    assert receiver.received == []
    assert list(WebhookDelivery.objects.values_list("state", flat=True)) == ["dropped"]
    charlie.refresh_from_db()
    assert Webhook.objects.visible_to(charlie).count() == 0


def test_datasets_are_told_when_they_are_ready_and_when_they_are_not(hook, alice, tmp_path, settings):
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path, tmp_path
    dataset = demonstration.make_text(alice)
    of_it = {"owner": alice, "dataset": dataset, "kind": Upload.Kind.SAMPLES, "name": "a.csv", "size": 1}
    upload = Upload.objects.create(**of_it, state=Upload.State.READING)
    with transaction.atomic():
        outbox.of_dataset(dataset, Kind.DATASET_READY, "u")
    Dataset.objects.filter(pk=dataset.pk).update(state="reading")
    reading.refuse(upload, "No such column.")

    assert types()[-2:] == ["dataset.ready", "dataset.refused"]


def test_a_queue_is_told_when_its_last_place_is_answered(hook, alice, charlie):
    queue = reviewed.queue(alice, charlie)
    items = list(queue.items.order_by("number"))
    for item in items:
        assert "review.finished" not in types()
        answers.submit(item, reviewed.scored(), by=charlie)
    answers.submit(items[0], reviewed.scored(note="Looked again."), by=charlie)

    assert types().count("review.finished") == 1
