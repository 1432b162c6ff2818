"""The audit record over HTTP, for administrators."""

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from accounts.api.people import ForAdmins
from accounts.models import AuditEntry


class EntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """actor_id, actor: who did it, null and empty for nobody who is known. target: `kind:id` of what it was done to."""

    detail = serializers.DictField()

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "action", "actor_id", "actor", "target", "name", "detail", "address"]


class EntryFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    person = filters.CharFilter(field_name="actor", lookup_expr="icontains", help_text="Part of who did it.")
    action = filters.ChoiceFilter(choices=AuditEntry.Action.choices)
    target = filters.CharFilter(method="filter_target", help_text="`kind:id`, or part of its name.")
    since = filters.DateFilter(field_name="at", lookup_expr="date__gte", help_text="A day (UTC), as 2026-02-28.")
    until = filters.DateFilter(field_name="at", lookup_expr="date__lte", help_text="A day (UTC), as 2026-02-28.")

    class Meta:
        model = AuditEntry
        fields: list[str] = []

    def filter_target(self, rows: QuerySet[AuditEntry], name: str, value: str) -> QuerySet[AuditEntry]:
        return rows.filter(Q(target=value) | Q(name__icontains=value))


@extend_schema(responses={200: EntrySerializer(many=True)})
class AuditView(ForAdmins, generics.ListAPIView[AuditEntry]):
    """What was done by whom, the newest first."""

    queryset = AuditEntry.objects.all()
    serializer_class = EntrySerializer
    filterset_class = EntryFilter
