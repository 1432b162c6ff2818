"""Which workflow a run has is the affair of the workflow's own package: shared code names none of them."""

import re

from experiments.workflows import REGISTRY
from tests.sources import ROOT, sources

OWN = re.compile(r"(?:experiments|templates|static)/workflows/")
OTHER_MEANINGS = {  # where such a word means something else: the words, and what
    "accounts/passwords.py": ("arena starchamber council debate coding", "words that no password may be made of"),
    "arenasite/describing.py": ("battles council", "headings of the API's description"),
    "arenasite/navigation.py": ("battles", "a page of the documentation"),
    "arenasite/settings.py": ("arena", "the prefix of keys in Redis"),
    "experiments/library/annotations/pages.py": ("scan", "what is done with the chosen runs, and its page"),
    "experiments/library/bulk": ("battles", "a table of a bulk file"),
    "experiments/library/datasets": ("outputs", "a part of a row of a dataset"),
    "experiments/library/builtin.py": ("debate", "the id of a preset"),
    "experiments/management/commands/load_dataset.py": ("outputs", "a part of a row of a dataset"),
    "experiments/models/client.py": ("arena starchamber council", "systems whose clients are answered"),
    "experiments/models/imports.py": ("arena starchamber council debate", "systems whose files are read"),
    "experiments/models/review.py": ("scan", "the field that names the scan of a queue"),
    "experiments/review": ("scan", "the field that names the scan of a queue"),
    "experiments/models": ("battles outputs", "relations of rows, and what a file holds"),
    "leaderboard/ratings/cycles.py": ("judging", "a role in a cycle"),
    "leaderboard": ("battles", "a count of a rating"),
}


KNOW_ONE = {  # shared packages that are about a workflow, and why
    "experiments/api/compatibility": "clients of LLM Arena, LLM Council, StarChamber and multi-llm-assistant",
    "experiments/lab/injections": "a trial for each kind of judge",
    **dict.fromkeys(
        [
            f"experiments/library/{name}.py"
            for name in ("api", "demonstrations", "forms", "presets", "scenarios", "views")
        ],
        "scenarios are set-ups of an arena",
    ),
    "experiments/studies/importing.py": "batches of the original StarChamber become studies",
    "experiments/library/imports/inspect.py": "a log of anybody becomes a talk with one model",
    "experiments/management/commands": "commands of battles",
    "experiments/review/curation_api.py": "battles and cycles are left out of ratings",
    "experiments/review/curation.py": "battles and cycles are left out of ratings",
    "experiments/library/datasets": "contestants of battles",
    "experiments/library/bulk/tables.py": "tables of ballots and executions",
    "experiments/runs/reports": "ballots, cycles and executions in documents",
    "experiments/runs/run_api.py": "judging again, of any run",
    "leaderboard": "boards of battles, councils and contests",
}


def _named(place: str) -> list[str]:
    texts = {text: line for text, line in sources()[place].texts.items() if text in REGISTRY}
    return [f"{place}:{line} {text!r}" for text, line in texts.items() if not _means_something_else(place, text)]


def _means_something_else(place: str, word: str) -> bool:
    known = [words.split() for beginning, (words, _what) in OTHER_MEANINGS.items() if place.startswith(beginning)]
    return any(word in words for words in known)


def test_no_python_file_outside_its_package_names_a_workflow():
    shared = [place for place in sources() if not OWN.match(place) and "/migrations/" not in place]
    assert len(shared) > 400
    assert [found for place in shared for found in _named(place)] == []
    assert _named("experiments/workflows/council/__init__.py"), "it is found where it is"


def test_engine_pages_and_verbs_import_no_workflow():
    packages = tuple(f"experiments.workflows.{slug.replace('-', '_')}" for slug in REGISTRY)
    importing = []
    for place, source in sources().items():
        is_shared = place.startswith(("experiments/", "leaderboard/")) and not OWN.match(place)
        if is_shared and not place.startswith(tuple(KNOW_ONE)):
            importing += [f"{place}: {module}" for module in source.imported if f"{module}.".startswith(packages)]
    assert importing == []
    assert all((ROOT / place).exists() for place in KNOW_ONE)


def test_no_shared_template_asks_which_workflow_it_has():
    asked = re.compile(r"workflow\s*[!=]=\s*['\"]")
    templates = [path for path in (ROOT / "templates").rglob("*.html") if not OWN.match(str(path.relative_to(ROOT)))]
    assert len(templates) > 150
    assert [str(path.relative_to(ROOT)) for path in templates if asked.search(path.read_text(encoding="utf-8"))] == []
