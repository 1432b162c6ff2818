"""What the platform is made of is pinned with digests, as `make sbom` lists it, and what our own code never does.

That is read from the code; code in texts, shells and built SQL are what ruff forbids.
"""

import re

from django.http import HttpResponse

from accounts.attachments import HARMLESS, to_be_saved
from tests.sources import ROOT, sources

PACKAGE = re.compile(r"(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^\s;\\]+)(?P<marker> ; [^\\\n]+)?")
PINNED = re.compile(rf"{PACKAGE.pattern}( \\\n    --hash=sha256:[0-9a-f]{{64}})+\n(    #.*\n)*")


def packages(name):
    text = (ROOT / name).read_text()
    return {(found["name"], found["marker"]): found["version"] for found in PACKAGE.finditer(text)}


def test_every_package_is_pinned_once_with_the_digests_of_its_files_and_comes_from_no_other_place():
    locks = sorted(path.name for path in ROOT.glob("requirements*.lock"))
    assert len(locks) > 3
    for name in locks:
        text = (ROOT / name).read_text()
        assert len(packages(name)) > 30, name
        assert PINNED.sub("", text) == "", "nothing but pins, digests and who wants them"
        assert not re.search(r"https?://|@ ", text), name
        for pin in PINNED.finditer(text):
            digests = re.findall(r"sha256:(\S+)", pin.group())
            assert len(digests) == len(set(digests)), pin.group()

    ours = packages("requirements.lock")

    for name in ("requirements-dev.lock", "requirements-bucket.lock"):
        others = packages(name)
        assert {key for key, version in ours.items() if others.get(key, version) != version} == set()


def test_nothing_is_read_by_what_makes_objects_of_strangers_bytes_or_follows_entities():
    unsafe = {"pickle", "cPickle", "shelve", "dill", "yaml", "xml", "lxml", "telnetlib", "ftplib", "ldap", "jinja2"}
    imported = {(path, name) for path, one in sources().items() for name in one.imported}
    cards = {("experiments/library/datasets/hub.py", "yaml"), ("experiments/library/datasets/reader/card.py", "yaml")}
    assert {(path, name) for path, name in imported if name.partition(".")[0] in unsafe} == cards
    called = set.union(*(set(one.called) for one in sources().values()))
    assert {name for name in called if name.startswith("yaml.")} == {"yaml.safe_dump", "yaml.YAMLError"}


def test_no_template_is_made_of_anybodys_words_and_chance_that_must_not_be_guessed_is_the_systems():
    makers = {"Template", "engines.from_string", "Engine.from_string", "Template.from_string"}
    found = {path for path, one in sources().items() if one.called & makers}
    assert {path for path in found if "workflows" not in path and "prompts" not in path} == set()

    secretive = ("accounts", "arenasite", "experiments/lab/webhooks/sending", "experiments/runs/sharing")
    by_chance = {path for path, one in sources().items() if "random" in one.imported}
    assert {path for path in by_chance if path.startswith((*secretive, "experiments/lab/key"))} == set()


def test_nobody_asks_the_network_but_where_addresses_are_looked_at():
    """The transport looks at each address; the operator names the sign-in server; the supervisor asks its own parts."""
    asking = {"requests", "urllib.request", "urllib3", "http.client", "aiohttp", "ftplib", "smtplib", "telnetlib"}
    clients = {path for path, one in sources().items() if "httpx.AsyncClient" in one.called}
    words = {word for one in sources().values() for word in one.words}

    assert {path for path, one in sources().items() if asking & (one.imported | one.taken)} == {
        "accounts/oidc.py",
        "arenasite/supervisor/supervisor.py",
        "experiments/gateway/transport.py",
    }
    assert clients == {"experiments/gateway/client.py", "experiments/lab/webhooks/sending.py"}
    assert all("trust_env=False" in (ROOT / path).read_text() for path in clients), "a proxy would be asked instead"
    assert {word for word in words if word.startswith("follow_redirects=")} <= {"follow_redirects=False"}


def test_scripts_use_nothing_that_runs_text_or_hears_other_windows():
    forbidden = ("eval(", "new Function", "document.write", "__proto__", "postMessage", "JSONP", "setTimeout('")
    for path in (ROOT / "static").glob("*.js"):
        text = path.read_text()
        assert [word for word in forbidden if word in text] == [], path.name


def test_a_name_of_a_file_ends_no_header():
    for name in ('a"; filename="b.html', "a\r\nSet-Cookie: x=1", "../../etc/passwd", "报告.html", "a" * 300):
        answer = to_be_saved(HttpResponse(b"x"), "text/html", name)
        assert answer["Content-Disposition"].startswith("attachment; filename"), name
        assert not {"\r", "\n"} & set(answer["Content-Disposition"]), name
        assert answer["Content-Security-Policy"] == HARMLESS, name
