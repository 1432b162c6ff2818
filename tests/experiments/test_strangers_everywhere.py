"""Whatever address has an id in it: a stranger gets the answer for something that does not exist."""

import re
from uuid import UUID

import pytest

from experiments.models import Experiment, Run
from experiments.reports import making
from experiments.reports.formats import REPORTS
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.routes import routes
from tests.fixtures import signed_in, told

NOWHERE = UUID("00000000-0000-7000-8000-000000000000")
NO_CYCLE = 987_654_321  # cycles have numbers
KINDS = ("runs", "messages", "calls", "experiments", "files", "cycles")
FORMATS = {"report": "html", "export": "jsonl"}


def addresses():
    """Every route with an id of something of a run in it, as a template."""
    found = set()
    for route in routes():
        if match := re.match(rf"(?:api/)?({'|'.join(KINDS)})/<(?:uuid|int|drf_format_suffix|str)?:?pk>", route):
            found.add((match.group(1), _filled(route)))
    return sorted(found)


def _filled(route):
    """The route with a place for the id, and something for whatever else it asks for."""
    for name, value in {"pk": "{pk}", "other": str(NOWHERE), "turn": "1"}.items():
        route = re.sub(rf"<(?:\w+:)?{name}>", value, route)
    return route


ADDRESSES = addresses()


def test_the_routes_are_found():
    paths = {path for _kind, path in ADDRESSES}
    wanted = {"runs/{pk}/", "runs/{pk}/news/", "api/runs/{pk}/", "api/runs/{pk}/report/", "api/messages/{pk}/branch/"}
    further = {f"{prefix}runs/{{pk}}/{name}/" for prefix in ("", "api/") for name in ("ask", "draft", "lift")}
    ranked = {"runs/{pk}/ranking/1/", "api/runs/{pk}/ranking/", "api/runs/{pk}/ballots/"}
    coded = {"runs/{pk}/cycles/1/", "runs/{pk}/artifacts.zip", "api/runs/{pk}/cycles/", "api/cycles/{pk}/void/"}
    assert wanted | further | ranked | coded <= paths
    assert len(paths) > 30


@pytest.fixture
def an_arena_run(played):
    return played(max_turns=1)


@pytest.fixture
def a_council(alice):
    return deliberations.council(alice).run


@pytest.fixture
def a_debate(alice):
    return deliberations.debate(alice).run


@pytest.fixture
def a_contest(alice):
    return contest_rows.contest(alice, 1).run


@pytest.fixture(params=["an_arena_run", "a_council", "a_debate", "a_contest"])
def alices(request, alice):
    """An id of each kind of thing that Alice has."""
    run = request.getfixturevalue(request.param)
    file = making.request_file(run, by=alice, format_=REPORTS["html"], language="en")
    return {
        "runs": run.pk,
        "messages": run.messages.first().pk,
        "calls": run.calls.first().pk,
        "experiments": run.experiment_id,
        "files": file.pk,
        "cycles": cycle.pk if (cycle := run.cycles.first()) else NO_CYCLE,
    }


def path_of(path, pk):
    filled = path.format(pk=pk)
    for word, value in FORMATS.items():
        filled = filled.replace(f"/{word}/<slug:format>/", f"/{word}/{value}/")
    return f"/{filled}"


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_learns_nothing_and_moves_nothing(alices, charlie, method):
    browser = signed_in(charlie)
    before = (Run.objects.count(), Experiment.objects.count(), Run.objects.get(pk=alices["runs"]).last_seq)
    for kind, path in ADDRESSES:
        answer = getattr(browser, method)(path_of(path, alices[kind]))
        empty = getattr(browser, method)(path_of(path, NO_CYCLE if kind == "cycles" else NOWHERE))

        assert answer.status_code == empty.status_code, path
        assert answer.status_code in {404, 405}, path
        assert str(alices[kind]) not in told(answer).replace(path_of(path, alices[kind]), ""), path
    assert (Run.objects.count(), Experiment.objects.count(), Run.objects.get(pk=alices["runs"]).last_seq) == before


@pytest.mark.django_db
def test_alice_herself_is_answered_at_the_same_addresses(alices, alice):
    browser = signed_in(alice)
    answers = {path: browser.get(path_of(path, alices[kind])).status_code for kind, path in ADDRESSES}

    unknown = {path for path, status in answers.items() if status == 404}
    of_talks = "runs/{pk}/figures/"
    of_councils = {"runs/{pk}/ranking/1/", "api/runs/{pk}/ranking/"}
    of_campaigns = {"experiments/{pk}/live/", "api/experiments/{pk}/campaign/"}
    of_contests = {f"runs/{{pk}}/{name}" for name in ("cycles/1/", "artifacts.zip")} | {"api/runs/{pk}/cycles/1/"}
    run = Run.objects.get(pk=alices["runs"])
    others = {*(() if run.ballots.exists() else of_councils), *(() if run.cycles.exists() else of_contests)}
    assert unknown == {f"runs/{{pk}}/compare/{NOWHERE}/", of_talks, *of_campaigns, *others}
