"""Charlie sees nothing of Alice's: every answer is the one for something that does not exist."""

from uuid import UUID

import pytest

from experiments.models import Experiment, Export, Run
from tests.fixtures import told

pytestmark = pytest.mark.django_db

NOWHERE = UUID("00000000-0000-7000-8000-000000000000")
RUN_PATHS = ["", "stop/", "resume/", "report/", "messages/", "judgments/", "calls/", "events/"]
PATHS = [*(f"runs/{{run}}/{end}" for end in RUN_PATHS), "experiments/{experiment}/", "experiments/{experiment}/start/"]
METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]


@pytest.fixture
def run(arena, start):
    return start(arena())


def addresses(path, run):
    return path.format(run=run.pk, experiment=run.experiment_id), path.format(run=NOWHERE, experiment=NOWHERE)


@pytest.mark.edge(51)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", PATHS)
def test_a_strangers_answer_is_the_one_for_what_does_not_exist(charlies, run, counts, path, method):
    before, (alices, nowhere) = counts(), addresses(path, run)

    answer, empty = charlies.send(method, alices), charlies.send(method, nowhere)

    assert (answer.status_code, told(answer)) == (empty.status_code, told(empty))
    assert answer.status_code in ({200, 404} if method == "OPTIONS" else {404, 405})
    assert counts() == before


@pytest.mark.edge(51)
@pytest.mark.parametrize("path", [path for path in PATHS if not path.endswith(("start/", "stop/", "resume/"))])
def test_a_stranger_reads_nothing(charlies, run, is_problem, path):
    is_problem(charlies.get(addresses(path, run)[0]), 404)


@pytest.mark.edge(51)
@pytest.mark.parametrize("path", [path for path in PATHS if path.endswith(("start/", "stop/", "resume/"))])
def test_a_stranger_moves_nothing(charlies, run, is_problem, path, nobody_is_woken):
    woken = len(nobody_is_woken)

    is_problem(charlies.post(addresses(path, run)[0]), 404)

    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED
    assert len(nobody_is_woken) == woken


def test_a_stranger_is_told_nothing_before_the_request_is_checked(charlies, run, is_problem):
    """Bad input for something that exists is answered like bad input for something that does not."""
    is_problem(charlies.post(f"experiments/{run.experiment_id}/start/", {"seed": "x"}), 404)
    is_problem(charlies.get(f"runs/{run.pk}/events/", after="1"), 404)


def test_a_stranger_finds_nothing_in_any_list(charlies, run):
    assert charlies.get("experiments/").json()["results"] == []
    assert charlies.get("runs/").json()["results"] == []
    assert charlies.get("runs/", experiment=str(run.experiment_id)).json()["results"] == []
    assert charlies.get("runs/", search="solar").json()["results"] == []


def test_alice_reads_all_of_it(api, run):
    statuses = {api.get(addresses(f"runs/{{run}}/{end}", run)[0]).status_code for end in ["", *RUN_PATHS[3:]]}

    assert statuses == {200}


@pytest.mark.parametrize("path", PATHS)
def test_nobody_is_asked_who_they_are_first(nobodys, run, is_problem, path):
    method = nobodys.post if path.endswith(("start/", "stop/", "resume/")) else nobodys.get

    is_problem(method(addresses(path, run)[0]), 401)


def test_a_strangers_idempotency_key_is_a_key_of_their_own(api, charlies, charlie, run, arena, provider):
    api.post(f"experiments/{run.experiment_id}/start/", {"seed": 1}, Idempotency_Key="key-1")
    own = Experiment.objects.create(owner=charlie, workflow="arena", title="t", config=run.experiment.config)

    response = charlies.post(f"experiments/{own.pk}/start/", {"seed": 1}, Idempotency_Key="key-1")

    assert response.status_code == 201
    assert response.json()["runs"][0]["experiment"] == str(own.pk)


def test_a_staff_member_is_a_stranger_too(charlies, charlie, run, is_problem):
    type(charlie).objects.filter(pk=charlie.pk).update(is_staff=True, role="admin")

    is_problem(charlies.get(f"runs/{run.pk}/"), 404)


FILE_PATHS = ["runs/{run}/export/", "runs/{run}/files/", "files/{file}/", "files/{file}/download/"]


@pytest.fixture
def file(run, alice, make_files):
    """A file of Alice's run, ready to be fetched."""
    export = Export.objects.create(run=run, owner=alice, format="csv", language="en", last_seq=1, name="alices.csv")
    make_files()
    return export


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", FILE_PATHS)
def test_a_strangers_answer_for_a_file_is_the_one_for_none(charlies, run, file, counts, path, method):
    before = counts()

    answer = charlies.send(method, path.format(run=run.pk, file=file.pk))
    empty = charlies.send(method, path.format(run=NOWHERE, file=NOWHERE))

    assert (answer.status_code, told(answer)) == (empty.status_code, told(empty))
    assert answer.status_code in ({200, 404} if method == "OPTIONS" else {404, 405})
    assert counts() == before


@pytest.mark.parametrize("path", FILE_PATHS)
def test_nobody_is_asked_who_they_are_before_a_file(nobodys, run, file, is_problem, path):
    method = nobodys.post if path.endswith("files/") else nobodys.get

    is_problem(method(path.format(run=run.pk, file=file.pk)), 401)


@pytest.mark.parametrize("path", ["runs/{run}/report/", "runs/{run}/export/"])
@pytest.mark.parametrize("format_", ["html", "pdf", "md", "json", "jsonl", "csv", "inspect", "exe"])
def test_a_stranger_gets_no_format(charlies, run, is_problem, path, format_):
    is_problem(charlies.get(path.format(run=run.pk), format=format_), 404)


def test_alice_fetches_her_file(api, file):
    assert api.get(f"files/{file.pk}/").json()["state"] == "done"
    assert api.get(f"files/{file.pk}/download/").getvalue()


def test_nobody_imports_without_signing_in(nobodys, is_problem, counts):
    before = counts()

    is_problem(nobodys.post("runs/import/", {}), 401)
    assert counts() == before
