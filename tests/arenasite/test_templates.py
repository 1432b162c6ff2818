"""Templates know every tag and filter that they use, on whichever path they are drawn."""

from pathlib import Path

from django.conf import settings
from django.template.loader import get_template


def test_every_template_compiles():
    folder = Path(settings.BASE_DIR) / "templates"
    names = [str(path.relative_to(folder)) for path in folder.rglob("*.html")]
    assert len(names) > 400
    for name in names:
        get_template(name)
