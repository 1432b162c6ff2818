"""The same refusal has the same status wherever somebody meets it."""

import ast
import importlib
import inspect
import json
import re
import sys
from pathlib import Path

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import RequestFactory
from rest_framework.exceptions import APIException

from accounts import errors
from accounts.refusing import RefusingMiddleware
from experiments.api.problems import problem_response
from tests.experiments.rights.things import addresses

ADDRESSES = dict(addresses())
OURS = {"accounts", "experiments", "leaderboard"}
TOLD_IN_A_FORM = 422  # on a page: what was typed, with the form
TREE = [errors.Invalid, errors.Forbidden, errors.NotFound, errors.Conflict, errors.RateLimited, errors.Unavailable]
SURFACES = {
    *("views", "api", "compatibility", "pages", "routes", "people", "oidc", "permissions", "authentication", "parsers")
}
OF_HTTP = (Http404, PermissionDenied, APIException)
VERBS = {  # by the address of the page; then that of the API, what is sent to both, and to either alone
    "run-say": ("experiments.runs.steering.steering.say", "api-run-say", {"key": "a", "action": "send", "text": "b"}),
    "run-mode": ("experiments.runs.steering.steering.set_mode", "api-run-mode", {"mode": "manual"}),
    "run-pause": ("experiments.runs.steering.steering.pause", "api-run-pause", {}),
    "run-extend": ("experiments.runs.steering.steering.extend", "api-run-extend", {"max_turns": 3}),
    "run-lift": ("experiments.runs.steering.steering.lift", "api-run-lift", {}, {}, {"limits": {"tokens": 9}}),
    "run-resume": ("experiments.runs.actions.resume", "api-run-resume", {}),
    "run-stop": ("experiments.runs.actions.stop", "api-run-stop", {}),
    "message-branch": ("experiments.runs.steering.branching.branch", "api-branch", {"text": "b"}),
    "run-judge": ("experiments.workflows.judging.services.judge_again", "api-run-judge", {"rubric": ""}),
    "experiment-share": ("experiments.runs.sharing.sharing.share", "api-experiment-share", {"visibility": "lab"}),
    "campaign-stop": ("experiments.workflows.battles.campaign.campaigns.stop", "api-campaign-stop", {}),
    "run-curation": ("experiments.review.curation.act", "api-run-curation", {"deed": "approve"}),
    "run-tags": (
        "experiments.library.annotations.tags._require_right",
        "api-run-tags",
        {},
        {"tag": "a"},
        {"names": ["a"]},
    ),
    "run-notes": ("experiments.library.annotations.notes.write", "api-run-notes", {"text": "a"}),
    "favorite": (
        "experiments.library.annotations.favorites.mark",
        "api-favorites",
        {"kind": "board", "key": "a"},
        {"mark": ""},
    ),
    "view-new": (
        "experiments.library.annotations.saved_views.save",
        "api-views",
        {"name": "a", "query": "state=failed"},
    ),
    "scenario-new": (
        "experiments.library.scenarios.save_scenario",
        "api-scenarios",
        {"title": "a", "kind": "mixed"},
        {},
        {"config": {}},
    ),
    "scenario-archive": ("experiments.library.scenarios.archive_scenario", "api-scenario-archive", {"archived": "1"}),
    "scenario-copy": ("experiments.library.scenarios.copy_scenario", "api-scenario-copy", {}),
    "dataset-visibility": (
        "experiments.library.datasets.making.publish",
        "api-dataset-visibility",
        {"visibility": "lab"},
    ),
    "contestant-change": (
        *("experiments.library.datasets.contestants.restore", "api-contestant", {}),
        *({"action": "restore"}, {"deed": "restore"}),
    ),
    "battle-void": (
        *("experiments.workflows.battles.campaign.voiding.restore", "api-battle", {}),
        *({"restore": "1"}, {"deed": "restore"}),
    ),
}


def modules():
    """Of ours, all that the site has loaded to know its addresses."""
    known = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in OURS]
    return [module for module in known if getattr(module, "__file__", None)]


def tree():
    found, left = [], [errors.Refusal]
    while left:
        found.append(left.pop())
        left += found[-1].__subclasses__()
    return [one for one in found if not one.__module__.startswith("tests")]


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


def on_a_page(error):
    request = RequestFactory().post("/", headers={"Accept": "application/json"})
    return RefusingMiddleware(lambda _request: None).process_exception(request, error).status_code


def is_verb(module):
    words = set(re.split(r"[._]", module.__name__))
    return not words & SURFACES


def test_every_class_of_refusal_has_one_status_and_says_it():
    for kind in tree():
        error = made(kind)
        assert on_a_page(error) == problem_response(error, {}).status_code == kind.status, kind
        if kind.__module__ == errors.__name__ and kind is not errors.Refusal:
            assert inspect.getdoc(kind).startswith(f"{kind.status.value}: "), kind


def test_verbs_raise_refusals_and_nothing_that_belongs_to_http():
    raised = []
    for module in filter(is_verb, modules()):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                name = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
                kind = getattr(module, name, None)
                if inspect.isclass(kind) and issubclass(kind, OF_HTTP) and not issubclass(kind, errors.Refusal):
                    raised.append(f"{module.__name__}: {name}")
    assert raised == []


def test_no_view_of_the_api_turns_a_refusal_into_an_answer_by_hand():
    caught = []
    for module in modules():
        if "api" in re.split(r"[._]", module.__name__):
            for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
                if isinstance(node, ast.ExceptHandler) and node.type is not None:
                    names = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                    kinds = [getattr(module, ast.unparse(one), None) for one in names]
                    caught += [
                        module.__name__ for kind in kinds if inspect.isclass(kind) and issubclass(kind, errors.Refusal)
                    ]
    assert caught == []


def test_a_verb_that_refuses_is_answered_with_the_same_status_on_its_page_and_by_the_api(things, monkeypatch, subtests):
    lab, alices = things
    browser = lab.browser("owner")
    for page, (verb, api, *sent) in VERBS.items():
        both, alone, program = (*sent, {}, {})[:3]
        for kind in TREE:
            module, name = verb.rsplit(".", 1)
            with subtests.test(page=page, kind=kind.__name__), monkeypatch.context() as patched:
                patched.setattr(importlib.import_module(module), name, refusing(made(kind)))
                by_hand = browser.post(
                    alices.address(page, ADDRESSES[page]), {**both, **alone}, headers={"Accept": "application/json"}
                )
                method = browser.put if api == "api-run-tags" else browser.post
                by_program = method(
                    alices.address(api, ADDRESSES[api]),
                    json.dumps({**both, **program}),
                    content_type="application/json",
                )
                assert by_program.status_code == kind.status
                is_form = kind is errors.Invalid and by_hand.status_code == TOLD_IN_A_FORM
                assert is_form or by_hand.status_code == kind.status


def refusing(error):
    def verb(*_arguments, **_options):
        raise error

    return verb
