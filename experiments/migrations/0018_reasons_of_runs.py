"""Battles of runs that were left out before say that they were, and no longer why."""

from typing import Any

from django.db import migrations

WITH_RUN = "Its run was left out of every ladder."


def tell_no_reasons(apps: Any, schema_editor: Any) -> None:
    battles = apps.get_model("experiments", "Battle").objects
    for review in apps.get_model("experiments", "RunReview").objects.filter(excluded__isnull=False).iterator():
        with_it = {"voided_by": review.excluded_by_id, "voided__gte": review.excluded, "void_reason": review.reason}
        battles.filter(run=review.run_id, **with_it).update(void_reason=WITH_RUN)


class Migration(migrations.Migration):
    dependencies = [("experiments", "0017_injections")]

    operations = [migrations.RunPython(tell_no_reasons, migrations.RunPython.noop, elidable=True)]
