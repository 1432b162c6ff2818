"""What our own code never does, read from the code; code in texts, shells and built SQL are what ruff forbids."""

import ast
from functools import cache
from pathlib import Path

from django.http import HttpResponse

from accounts.attachments import HARMLESS, to_be_saved
from tests.cases import each_case

ROOT = Path(__file__).parents[3]
FLOORS = ("accounts", "arenasite", "experiments", "leaderboard")
SECRETIVE = (
    "accounts",
    "arenasite",
    "experiments/lab/webhooks/sending",
    "experiments/runs/sharing",
    "experiments/lab/key",
)
UNSAFE_MODULES = {"pickle", "cPickle", "shelve", "dill", "yaml", "xml", "lxml", "telnetlib", "ftplib", "ldap", "jinja2"}


@cache
def trees():
    """The syntax tree of each file, by its path."""
    files = (path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py")))
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in files
        if "migrations" not in path.parts
    }


@cache
def calls():
    """(path, node, name of what is called)."""
    nodes = ((path, node) for path, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [(path, node, ast.unparse(node.func)) for path, node in nodes]


@cache
def imports():
    """(path, module), and a name from it as module.name too."""
    found = set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {(path, alias.name) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {(path, node.module), *((path, f"{node.module}.{alias.name}") for alias in node.names)}
    return found


def test_nothing_is_read_by_what_makes_objects_of_strangers_bytes_or_follows_entities():
    assert {(path, name) for path, name in imports() if name.partition(".")[0] in UNSAFE_MODULES} == set()


def test_no_template_is_made_of_anybodys_words():
    makers = {"Template", "engines.from_string", "Engine.from_string", "Template.from_string"}
    found = {path for path, _node, name in calls() if name in makers}
    assert {path for path in found if "workflows" not in path and "prompts" not in path} == set()


def test_chance_that_must_not_be_guessed_is_the_systems():
    assert {path for path, name in imports() if name == "random" and path.startswith(SECRETIVE)} == set()


def test_nobody_asks_the_network_but_where_addresses_are_looked_at():
    """The transport looks at each address; the operator names the sign-in server; the supervisor asks its own parts."""
    asking = {"requests", "urllib.request", "urllib3", "http.client", "aiohttp", "ftplib", "smtplib", "telnetlib"}
    clients = {path for path, _node, name in calls() if name == "httpx.AsyncClient"}
    redirected = {
        path
        for path, node, _name in calls()
        for word in node.keywords
        if word.arg == "follow_redirects" and ast.unparse(word.value) != "False"
    }

    assert {path for path, name in imports() if name in asking} == {
        "accounts/oidc.py",
        "arenasite/supervisor/supervisor.py",
        "experiments/gateway/transport.py",
    }
    assert clients == {"experiments/gateway/client.py", "experiments/lab/webhooks/sending.py"}
    assert all("trust_env=False" in (ROOT / path).read_text() for path in clients), "a proxy would be asked instead"
    assert redirected == set()


def test_scripts_use_nothing_that_runs_text_or_hears_other_windows():
    forbidden = ("eval(", "new Function", "document.write", "__proto__", "postMessage", "JSONP", "setTimeout('")
    found = {
        (path.name, word) for path in (ROOT / "static").glob("*.js") for word in forbidden if word in path.read_text()
    }

    assert found == set()


@each_case("name", ['a"; filename="b.html', "a\r\nSet-Cookie: x=1", "../../etc/passwd", "报告.html", "a" * 300])
def test_a_name_of_a_file_ends_no_header(name):
    answer = to_be_saved(HttpResponse(b"x"), "text/html", name)

    disposition = answer["Content-Disposition"]
    assert disposition.startswith("attachment; filename")
    assert not {"\r", "\n"} & set(disposition)
    assert answer["Content-Security-Policy"] == HARMLESS
