"""What the platform is made of is pinned with digests. `make sbom` lists it, `make audit` asks about it."""

import re
from pathlib import Path

from tests.cases import each_case

ROOT = Path(__file__).parents[3]
LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
PACKAGE = re.compile(r"(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^\s;\\]+)(?P<marker> ; [^\\\n]+)?")
PINNED = re.compile(rf"{PACKAGE.pattern}( \\\n    --hash=sha256:[0-9a-f]{{64}})+\n(    #.*\n)*")
ADDRESS = re.compile(r"https?://|@ ")


def packages(name):
    text = (ROOT / name).read_text()
    return {(found["name"], found["marker"]): found["version"] for found in PACKAGE.finditer(text)}


@each_case("name", LOCKS)
def test_every_package_is_pinned_with_the_digests_of_its_files_and_comes_from_no_other_place(name):
    text = (ROOT / name).read_text()

    assert len(packages(name)) > 30
    assert PINNED.sub("", text) == "", "nothing but pins, digests and who wants them"
    assert not ADDRESS.search(text)
    assert [found.group() for found in PINNED.finditer(text) if _repeats(found.group())] == []


def test_what_the_tests_and_the_platform_share_has_one_version():
    ours = packages("requirements.lock")

    for name in ("requirements-dev.lock", "requirements-bucket.lock"):
        others = packages(name)
        assert {key for key, version in ours.items() if others.get(key, version) != version} == set()


def _repeats(pin):
    digests = re.findall(r"sha256:(\S+)", pin)
    return len(digests) != len(set(digests))
