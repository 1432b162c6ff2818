"""Whatever address has an id in it: a stranger gets the answer for something that does not exist."""

import re
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from experiments.models import Experiment, Run
from experiments.reports import making
from experiments.reports.formats import REPORTS

NOWHERE = UUID("00000000-0000-7000-8000-000000000000")
KINDS = ("runs", "messages", "calls", "experiments", "files")
FORMATS = {"report": "html", "export": "jsonl"}


def addresses():
    """Every route with an id of something of a run in it, as a template."""
    found = set()
    for prefix, pattern in _routes(get_resolver().url_patterns, ""):
        route = f"{prefix}{pattern.pattern}"
        if match := re.match(rf"(?:api/)?({'|'.join(KINDS)})/<(?:uuid|drf_format_suffix|str)?:?pk>", route):
            found.add(
                (match.group(1), re.sub(r"<(?:\w+:)?other>", str(NOWHERE), re.sub(r"<(?:\w+:)?pk>", "{pk}", route)))
            )
    return sorted(found)


def _routes(patterns, prefix):
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield prefix, pattern
        else:
            yield from _routes(pattern.url_patterns, f"{prefix}{pattern.pattern}")


ADDRESSES = addresses()


def test_the_routes_are_found():
    paths = {path for _kind, path in ADDRESSES}
    wanted = {"runs/{pk}/", "runs/{pk}/news/", "api/runs/{pk}/", "api/runs/{pk}/report/", "api/messages/{pk}/branch/"}
    assert wanted <= paths
    assert len(paths) > 30


@pytest.fixture
def alices(played, alice):
    """An id of each kind of thing that Alice has."""
    run = played(max_turns=1)
    file = making.request_file(run, by=alice, format_=REPORTS["html"], language="en")
    return {
        "runs": run.pk,
        "messages": run.messages.first().pk,
        "calls": run.calls.first().pk,
        "experiments": run.experiment_id,
        "files": file.pk,
    }


def path_of(path, pk):
    filled = path.format(pk=pk)
    for word, value in FORMATS.items():
        filled = filled.replace(f"/{word}/<slug:format>/", f"/{word}/{value}/")
    return f"/{filled}"


@pytest.mark.edge(51)
@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_learns_nothing_and_moves_nothing(alices, charlie, method):
    browser = Client()
    browser.force_login(charlie)
    before = (Run.objects.count(), Experiment.objects.count(), Run.objects.get(pk=alices["runs"]).last_seq)
    for kind, path in ADDRESSES:
        answer = getattr(browser, method)(path_of(path, alices[kind]))
        empty = getattr(browser, method)(path_of(path, NOWHERE))

        assert answer.status_code == empty.status_code, path
        assert answer.status_code in {404, 405}, path
        assert str(alices[kind]) not in answer.content.decode().replace(path_of(path, alices[kind]), ""), path
    assert (Run.objects.count(), Experiment.objects.count(), Run.objects.get(pk=alices["runs"]).last_seq) == before


@pytest.mark.edge(51)
@pytest.mark.django_db
def test_alice_herself_is_answered_at_the_same_addresses(alices, alice):
    browser = Client()
    browser.force_login(alice)
    answers = {path: browser.get(path_of(path, alices[kind])).status_code for kind, path in ADDRESSES}

    unknown = {path for path, status in answers.items() if status == 404}
    of_talks = "runs/{pk}/figures/"
    assert unknown == {f"runs/{{pk}}/compare/{NOWHERE}/", of_talks}
