"""Libraries of others under `static/vendor` are what their list says; and what style sheets do not say."""

import hashlib
import re

from django.conf import settings

FOLDER = settings.BASE_DIR / "static" / "vendor"


def test_each_file_has_the_digest_of_the_release_that_is_named_and_no_style_sheet_asks_how_a_window_is_turned():
    """For such a rule alone axe-core fetches style sheets anew on every page."""
    listed = dict(re.findall(r"^\| `(\S+)` .* `([0-9a-f]{64})` \|$", (FOLDER / "README.md").read_text(), re.MULTILINE))
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.js")} == listed
    sheets = {path.name: path.read_text() for path in FOLDER.parent.glob("*.css")}
    assert "site.css" in sheets
    assert [name for name, text in sheets.items() if "orientation" in text] == []
