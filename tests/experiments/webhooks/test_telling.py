"""What webhooks are told, whose, and that nothing waits for them."""

import threading

import pytest
from django.db import transaction

from accounts import projects, roles
from accounts.models import Membership, Project
from experiments.engine.events import emit
from experiments.engine.reservations import over_budget
from experiments.lab.webhooks import delivering, outbox
from experiments.lab.webhooks.outbox import Kind
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
from tests.cases import each_case
from tests.experiments.reviews import reviewed
from tests.experiments.webhooks.conftest import hook_of


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


def begin(run):
    with transaction.atomic():
        emit(run.pk, ExperimentStarted(state="running"))


def placed(run, project, visibility):
    Experiment.objects.filter(pk=run.experiment_id).update(project=project, visibility=visibility)
    return run


@pytest.mark.databases
@each_case(("visibility", "told"), [("project", 1), ("lab", 1), ("private", 0)])
def test_a_project_is_told_of_what_its_members_see_and_its_lead_of_nothing_of_others(
    of_project, project, charlie, receiver, arena, start, visibility, told
):
    own = hook_of(charlie, receiver.url)
    begin(placed(start(arena()), project, visibility))

    assert len(types()) == told
    begin(start(arena()))  # of no project
    assert not own.deliveries.exists()


@each_case("leaves", ["left", "watches", "deactivated"])
def test_a_webhook_ceases_with_its_makers_place_also_for_what_waited(
    of_project, project, arena, start, charlie, alice, admin, deliver, receiver, leaves
):
    run = placed(start(arena()), project, "project")
    begin(run)
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
