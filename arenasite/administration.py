"""The Django admin under the product's name, its tables in groups by what they are about."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

GROUPS = (
    ("people", _("People"), "User Project Invitation AuditEntry"),
    (
        "runs",
        _("Runs"),
        "Study Experiment Run Message Judgment Ballot Cycle Call Execution Campaign ImportedRun RunImport Export "
        "BulkExport",
    ),
    (
        "library",
        _("Library"),
        "Scenario Preset Instrument Dataset Sample Contestant Output Image Upload LogImport Tag Note SavedView",
    ),
    ("review", _("Review"), "RunReview ReviewQueue ReviewRubric ReviewItem ReviewAnswer Annotation FlagDeed"),
    (
        "lab",
        _("Lab"),
        "Provider ProviderModel ProviderKey Budget UsageDay BilledDay Webhook WebhookDelivery ShareLink InjectionRate "
        "SandboxHost",
    ),
    ("leaderboard", _("Leaderboard"), "Ladder Board Battle Milestone"),
)
INTERNALS = _("Internals")


class LabAdminSite(AdminSite):
    site_header = site_title = _("Arena Lab administration")
    index_title = _("Tables by subject")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The groups; what is in none of them is of use to who looks for a fault, and comes last."""
        if app_label:
            return super().get_app_list(request, app_label)
        apps = self._build_app_dict(request).values()  # Django's list would be sorted: hundreds of names translated
        left = {one["object_name"]: one for app in apps for one in app["models"]}
        found = []
        for label, name, members in GROUPS:
            rows = [left.pop(member) for member in members.split() if member in left]
            found.append((label, name, rows))
        found.append(("internals", INTERNALS, sorted(left.values(), key=lambda one: str(one["name"]))))
        home = {"app_url": reverse("admin:index"), "has_module_perms": True}
        return [{"name": name, "app_label": label, "models": rows, **home} for label, name, rows in found if rows]


class LabAdminConfig(AdminConfig):
    default_site = "arenasite.administration.LabAdminSite"
