"""Datasets, their samples, pictures and outputs."""

from django.contrib import admin

from experiments.admin.base import Long, ReadOnly
from experiments.models import Dataset, DatasetImage, Image, Output, Sample


@admin.register(Dataset)
class DatasetAdmin(ReadOnly):
    list_display = ["name", "slug", "owner", "modality", "visibility", "takes_votes", "state", "created"]
    list_filter = ["modality", "visibility", "state"]
    list_select_related = ["owner"]
    search_fields = ["name", "slug", "owner__username"]
    date_hierarchy = "created"


@admin.register(Sample)
class SampleAdmin(Long):
    list_display = ["id", "dataset", "subset", "index", "category"]
    list_filter = ["dataset"]
    list_select_related = ["dataset"]
    heavy = ("instruction", "metadata")


@admin.register(Output)
class OutputAdmin(Long):
    list_display = ["id", "contestant", "sample_id", "created"]
    list_select_related = ["contestant"]
    raw_id_fields = ["sample", "contestant", "image", "call"]
    heavy = ("text",)


@admin.register(Image)
class ImageAdmin(Long):
    list_display = ["sha256", "mime", "width", "height", "size", "created"]
    list_filter = ["mime"]
    search_fields = ["=sha256"]


@admin.register(DatasetImage)
class DatasetImageAdmin(Long):
    list_display = ["id", "dataset", "image_id"]
    list_select_related = ["dataset"]
    raw_id_fields = ["image"]
