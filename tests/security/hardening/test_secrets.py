"""No secret is in the repository, in an image of memory, or in what commands print; ours can be recognised."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from accounts.tokens import create_token
from arenasite.supervisor.children import Child
from experiments.webhooks import signing

ROOT = Path(__file__).parents[3]
OURS = {
    "token": r"alab_[0-9a-f]{64}",
    "webhook": r"whsec_[A-Za-z0-9+/]{43}=",
}
LEAKS = re.compile(
    "|".join(
        [
            *OURS.values(),
            r"gAAAAA[A-Za-z0-9_-]{80,}",  # Fernet
            r"sk-(?:or-v1-|proj-|ant-)?[A-Za-z0-9]{20,}",
            r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}",
            r"(?:AKIA|ASIA)[0-9A-Z]{16}",
            r"gh[pousr]_[A-Za-z0-9]{30,}|glpat-[\w-]{20}|xox[abprs]-[\w-]{10,}|hf_[A-Za-z]{30,}|AIza[\w-]{35}",
            r"eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}",  # a signed JWT
            r"pbkdf2_sha256\$\d+\$\w+\$",
        ]
    )
)
INVENTED = {"sk-or-v1-abcdef0123456789abcdef"}  # in tests of what is taken out of a provider's words
SKIPPED = {".git", ".venv", ".venv-bench", "var", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"}


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.endswith("_cache")]
        yield from (Path(folder) / name for name in names)


def test_nothing_in_the_repository_looks_like_a_secret():
    found = {}
    for path in files():
        if path.is_file() and path.stat().st_size < 5 << 20 and path.suffix not in {".lock", ".mo", ".png"}:
            text = path.read_bytes().decode("utf-8", errors="replace")
            if leaks := {*LEAKS.findall(text)} - INVENTED:
                found[str(path.relative_to(ROOT))] = [leak[:12] for leak in leaks]

    assert found == {}


def test_a_secret_would_be_found():
    for leak in ("alab_" + "0123456789abcdef" * 4, "sk-or-v1-" + "0a1b2c3d" * 8, "AKIA" + "ABCDEFGHIJ234567"):
        assert LEAKS.search(f'key = "{leak}"')


@pytest.mark.django_db
def test_our_secrets_have_the_form_that_scanners_are_told(alice):
    assert re.fullmatch(OURS["token"], create_token(alice, name="x"))
    assert re.fullmatch(OURS["webhook"], signing.new_secret())


@pytest.mark.system
def test_a_part_that_crashes_leaves_no_image_of_its_memory(tmp_path):
    log = tmp_path / "child.log"
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)"
    child = Child("child", [sys.executable, "-c", program], log, {"PATH": os.environ["PATH"]})

    child.start()
    child.process.wait(60)

    assert log.read_text() == "(0, 0)\n"


@pytest.mark.system
def test_commands_that_an_operator_shows_around_print_no_secret():
    canary = "canary7f3a9c55e1d24b08canary7f3a9c55e1d24b08"
    environment = {
        **os.environ,
        "ARENA_SECRET_KEY": canary,
        "ARENA_KEY_SECRETS": canary,
        "OPENROUTER_API_KEY": canary,
        "ARENA_EMAIL_URL": f"smtp://arena:{canary}@mail.example:25",
        "REDIS_URL": f"redis://arena:{canary}@redis.example:6379/0",
        "ARENA_OIDC_ISSUER": "http://id.example",
        "ARENA_OIDC_CLIENT_ID": "arena",
        "ARENA_OIDC_CLIENT_SECRET": canary,
    }
    told = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"], cwd=ROOT, env=environment, capture_output=True, text=True
    )

    assert "arena.W009" in told.stderr
    assert canary not in told.stdout + told.stderr
