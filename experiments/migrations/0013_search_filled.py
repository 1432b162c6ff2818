"""What was recorded before there was a search is indexed, some rows at a time, each some committed by itself: a
migration that was broken off goes on where it was.
"""

from typing import Any

from django.db import migrations

from experiments.library.search import indexing
from experiments.library.search.indexing import Tables


def fill(apps: Any, editor: Any) -> None:
    names = ("Experiment", "Participant", "Message", "Passage")
    tables = Tables(*(apps.get_model("experiments", name) for name in names))
    indexing.everything(tables, only_missing=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("experiments", "0013_search")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
