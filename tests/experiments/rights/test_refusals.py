"""The same refusal has the same status wherever somebody meets it."""

import ast
import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from unittest.mock import Mock

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import RequestFactory
from rest_framework.exceptions import APIException

from accounts import errors
from accounts.refusing import RefusingMiddleware
from experiments.api.problems import problem_response
from tests.experiments.rights.things import addresses

ADDRESSES = dict(addresses())
TOLD_IN_A_FORM = 422  # on a page: what was typed, with the form
TREE = [errors.Invalid, errors.Forbidden, errors.NotFound, errors.Conflict, errors.RateLimited, errors.Unavailable]
SURFACES = {
    *("views", "api", "compatibility", "pages", "routes", "people", "oidc", "permissions", "authentication", "parsers")
}
OF_HTTP = (Http404, PermissionDenied, APIException)
STEERING, ANNOTATING = "experiments.runs.steering", "experiments.library.annotations"
LIBRARY, CAMPAIGN = "experiments.library", "experiments.workflows.battles.campaign"
SCENARIO, DEED = {"title": "a", "kind": "mixed"}, {"deed": "restore"}
VERBS = {  # by the address of the page; then that of the API, what is sent to both, and to either alone
    "run-say": (f"{STEERING}.steering.say", "api-run-say", {"key": "a", "action": "send", "text": "b"}),
    "run-mode": (f"{STEERING}.steering.set_mode", "api-run-mode", {"mode": "manual"}),
    "run-pause": (f"{STEERING}.steering.pause", "api-run-pause", {}),
    "run-extend": (f"{STEERING}.steering.extend", "api-run-extend", {"max_turns": 3}),
    "run-lift": (f"{STEERING}.steering.lift", "api-run-lift", {}, {}, {"limits": {"tokens": 9}}),
    "run-resume": ("experiments.runs.actions.resume", "api-run-resume", {}),
    "run-stop": ("experiments.runs.actions.stop", "api-run-stop", {}),
    "message-branch": (f"{STEERING}.branching.branch", "api-branch", {"text": "b"}),
    "run-judge": ("experiments.workflows.judging.services.judge_again", "api-run-judge", {"rubric": ""}),
    "experiment-share": ("experiments.runs.sharing.sharing.share", "api-experiment-share", {"visibility": "lab"}),
    "campaign-stop": (f"{CAMPAIGN}.campaigns.stop", "api-campaign-stop", {}),
    "run-curation": ("experiments.review.curation.act", "api-run-curation", {"deed": "approve"}),
    "run-tags": (f"{ANNOTATING}.tags._require_right", "api-run-tags", {}, {"tag": "a"}, {"names": ["a"]}),
    "run-notes": (f"{ANNOTATING}.notes.write", "api-run-notes", {"text": "a"}),
    "favorite": (f"{ANNOTATING}.favorites.mark", "api-favorites", {"kind": "board", "key": "a"}, {"mark": ""}),
    "view-new": (f"{ANNOTATING}.saved_views.save", "api-views", {"name": "a", "query": "state=failed"}),
    "scenario-new": (f"{LIBRARY}.scenarios.save_scenario", "api-scenarios", SCENARIO, {}, {"config": {}}),
    "scenario-archive": (f"{LIBRARY}.scenarios.archive_scenario", "api-scenario-archive", {"archived": "1"}),
    "scenario-copy": (f"{LIBRARY}.scenarios.copy_scenario", "api-scenario-copy", {}),
    "dataset-visibility": (f"{LIBRARY}.datasets.making.publish", "api-dataset-visibility", {"visibility": "lab"}),
    "contestant-change": (f"{LIBRARY}.datasets.contestants.restore", "api-contestant", {}, {"action": "restore"}, DEED),
    "battle-void": (f"{CAMPAIGN}.voiding.restore", "api-battle", {}, {"restore": "1"}, DEED),
}


def made(kind):
    for arguments in (({"name": ["Because."]},), ("Because.",), (2,)):
        try:
            one = kind(*arguments)
            str(one), getattr(one, "errors", {})
        except (TypeError, AttributeError, ValueError):
            continue
        if not isinstance(one, errors.Invalid) or all(isinstance(said, list) for said in one.errors.values()):
            return one
    raise AssertionError(kind)


def test_every_class_of_refusal_has_one_status_and_says_it():
    kinds = [errors.Refusal]
    for kind in kinds:
        kinds += [one for one in kind.__subclasses__() if not one.__module__.startswith("tests")]
    request = RequestFactory().post("/", headers={"Accept": "application/json"})
    for kind in kinds:
        error = made(kind)
        page = RefusingMiddleware(lambda _request: None).process_exception(request, error)
        assert page.status_code == problem_response(error, {}).status_code == kind.status, kind
        if kind.__module__ == errors.__name__ and kind is not errors.Refusal:
            assert inspect.getdoc(kind).startswith(f"{kind.status.value}: "), kind


def test_verbs_raise_refusals_and_nothing_of_http_and_no_view_of_the_api_answers_one_by_hand():
    raised, caught, ours = [], [], {"accounts", "experiments", "leaderboard"}
    loaded = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in ours]
    for module in (one for one in loaded if getattr(one, "__file__", None)):  # all that has to do with an address
        words = set(re.split(r"[._]", module.__name__))
        for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None and not words & SURFACES:
                raised += [(module, node.exc.func if isinstance(node.exc, ast.Call) else node.exc)]
            elif isinstance(node, ast.ExceptHandler) and node.type is not None and "api" in words:
                caught += [(module, kind) for kind in getattr(node.type, "elts", [node.type])]

    assert [
        one for one in classes(raised) if issubclass(one[1], OF_HTTP) and not issubclass(one[1], errors.Refusal)
    ] == []
    assert [one for one in classes(caught) if issubclass(one[1], errors.Refusal)] == []


def classes(named):
    """Those that the modules know by these names."""
    found = ((module, getattr(module, ast.unparse(name), None)) for module, name in named)
    return [(module.__name__, kind) for module, kind in found if inspect.isclass(kind)]


def test_a_verb_that_refuses_is_answered_with_the_same_status_on_its_page_and_by_the_api(things, monkeypatch, subtests):
    lab, alices = things
    browser = lab.browser("owner")
    for page, (verb, api, both, *more) in VERBS.items():
        alone, program = (*more, {}, {})[:2]
        method = browser.put if api == "api-run-tags" else browser.post
        module, name = verb.rsplit(".", 1)
        by_page, by_api = alices.address(page, ADDRESSES[page]), alices.address(api, ADDRESSES[api])
        for kind in TREE:
            with subtests.test(page=page, kind=kind.__name__), monkeypatch.context() as patched:
                patched.setattr(importlib.import_module(module), name, Mock(side_effect=made(kind)))
                by_hand = browser.post(by_page, {**both, **alone}, headers={"Accept": "application/json"})
                by_program = method(by_api, json.dumps({**both, **program}), content_type="application/json")
                assert by_program.status_code == kind.status
                is_form = kind is errors.Invalid and by_hand.status_code == TOLD_IN_A_FORM
                assert is_form or by_hand.status_code == kind.status
