"""What our own code never does, read from the code."""

import ast
from pathlib import Path

from django.http import HttpResponse

from accounts.attachments import HARMLESS, to_be_saved
from tests.cases import each_case

ROOT = Path(__file__).parents[3]
FLOORS = ("accounts", "arenasite", "experiments", "leaderboard")
# What runs code is the sandbox's inside; the bank of problems is a part of the program.
RUNS_CODE = {"experiments/sandbox/inside/harness.py", "experiments/gateway/simulated/coding/bank.py"}
SECRETIVE = ("accounts", "arenasite", "experiments/webhooks/signing", "experiments/sharing", "experiments/key")
# From names of our own columns and backends alone; what was sent is handed over beside the statement.
BUILDS_SQL = {
    "arenasite/backups/restoring.py",
    "experiments/datasets/reader/duck.py",
    "experiments/datasets/reader/parquet.py",
    "experiments/engine/keeping.py",
    "experiments/engine/events.py",
}
UNSAFE_MODULES = {"pickle", "cPickle", "shelve", "dill", "yaml", "xml", "lxml", "telnetlib", "ftplib", "ldap", "jinja2"}


def trees():
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def test_no_text_is_run_as_code_outside_the_sandbox():
    found = {path for path, tree in trees() for _node, name in calls(tree) if name in {"eval", "exec"}}

    assert found - RUNS_CODE == set()


def test_no_program_is_started_through_a_shell():
    shells = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
    found = {
        path
        for path, tree in trees()
        for node, name in calls(tree)
        if name in shells or any(word.arg == "shell" for word in node.keywords)
    }

    assert found == set()


def test_nothing_is_read_by_what_makes_objects_of_strangers_bytes_or_follows_entities():
    found = {
        (path, alias.name)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] in UNSAFE_MODULES
    }

    assert found == set()


def test_no_statement_of_sql_is_put_together_from_what_was_sent():
    """Where a statement is built, it is from constants of our own: parameters are handed over apart."""
    built = {
        (path, ast.unparse(node.args[0])[:60])
        for path, tree in trees()
        for node, name in calls(tree)
        if name.endswith(("cursor.execute", "database.execute", ".objects.raw", "RawSQL", ".extra")) and node.args
        if isinstance(node.args[0], ast.JoinedStr | ast.BinOp) or ".format" in ast.unparse(node.args[0])
    }

    assert {path for path, _text in built} <= BUILDS_SQL


def test_no_template_is_made_of_anybodys_words():
    found = {
        path
        for path, tree in trees()
        for _node, name in calls(tree)
        if name in {"Template", "engines.from_string", "Engine.from_string", "Template.from_string"}
        if "workflows" not in path and "prompts" not in path
    }

    assert found <= RUNS_CODE


def test_chance_that_must_not_be_guessed_is_the_systems():
    found = {
        path
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if "random" in {getattr(node, "module", None), alias.name}
        if path.startswith(
            ("accounts", "arenasite", "experiments/webhooks/signing", "experiments/sharing", "experiments/key")
        )
    }

    assert found == set()


@each_case("name", ['a"; filename="b.html', "a\r\nSet-Cookie: x=1", "../../etc/passwd", "报告.html", "a" * 300])
def test_a_name_of_a_file_ends_no_header(name):
    answer = to_be_saved(HttpResponse(b"x"), "text/html", name)

    disposition = answer["Content-Disposition"]
    assert disposition.startswith("attachment; filename")
    assert not {"\r", "\n"} & set(disposition)
    assert answer["Content-Security-Policy"] == HARMLESS
