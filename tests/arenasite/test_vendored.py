"""Libraries of others under `static/vendor` are what their list says."""

import hashlib
import re

from django.conf import settings

FOLDER = settings.BASE_DIR / "static" / "vendor"


def test_each_file_has_the_digest_of_the_release_that_is_named():
    listed = dict(re.findall(r"^\| `(\S+)` .* `([0-9a-f]{64})` \|$", (FOLDER / "README.md").read_text(), re.MULTILINE))
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.js")}
    assert found == listed
