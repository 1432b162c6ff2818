"""What the search is asked: a table that `manage.py reindex` writes anew."""

from django.contrib import admin

from experiments.admin.base import Long
from experiments.models import Passage


@admin.register(Passage)
class PassageAdmin(Long):
    list_display = ["id", "kind", "experiment_id", "run_id", "created"]
    list_filter = ["kind"]
    search_fields = ["=source", "=run__id"]
    search_help_text = "id"
    exclude = ["words"]
    heavy = ("words",)
    raw_id_fields = ["experiment", "run", "message", "reader"]
