"""Templates know every tag and filter that they use, on whichever path they are drawn."""

import re
from pathlib import Path

from django.conf import settings
from django.template.loader import get_template

FOLDER = Path(settings.BASE_DIR) / "templates"


def test_every_template_compiles():
    names = [str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html")]
    assert len(names) > 400
    for name in names:
        get_template(name)


def test_an_element_that_fetches_no_more_still_knows_how_an_answer_under_way_is_put_into_it():
    """Else the whole page of an answer that comes after the last one would stand inside of the element."""
    openings = {
        (path.name, found[0])
        for path in FOLDER.rglob("*.html")
        for found in re.finditer(r"<\w[^<]*?hx-(?:select|swap)=", path.read_text(encoding="utf-8"))
    }
    assert len(openings) > 10
    assert {(name, text) for name, text in openings if text.count("{% if") > text.count("{% endif %}")} == set()
