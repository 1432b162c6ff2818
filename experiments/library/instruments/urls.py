"""The addresses of the pages of instruments."""

from django.urls import path

from experiments.library.instruments import views
from experiments.library.instruments.choosing import FindInstruments
from experiments.library.instruments.transcripts import FindRuns
from experiments.workflows.base.measuring import ChosenSideBySide

urlpatterns = [
    path("find/runs/", FindRuns.as_view(), name="find-runs"),
    path("find/instruments/", FindInstruments.as_view(), name="find-instruments"),
    path(
        "find/instruments-without-order/",
        FindInstruments.as_view(units=ChosenSideBySide.UNITS),
        name="find-instruments-without-order",
    ),
    path("instruments/", views.index, name="instruments"),
    path("instruments/new/", views.instrument_new, name="instrument-new"),
    path("instruments/import/", views.instrument_import, name="instrument-import"),
    path("instruments/<uuid:pk>/", views.instrument, name="instrument"),
    path("instruments/<uuid:pk>/edit/", views.instrument_edit, name="instrument-edit"),
    path("instruments/<uuid:pk>/archive/", views.instrument_archive, name="instrument-archive"),
    path("instruments/<uuid:pk>/versions/<int:number>/file/", views.instrument_file, name="instrument-file"),
    path("instruments/<uuid:pk>/changes/<int:before>/<int:after>/", views.changes, name="instrument-changes"),
]
