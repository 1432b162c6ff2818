"""The catalogue: providers, their models, and what these cost."""

from django.contrib import admin

from experiments.models import ModelPrice, Provider, ProviderModel


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin[Provider]):
    list_display = ["name", "base_url", "is_active", "is_simulated", "allow_private", "api_key_env"]


class PriceInline(admin.TabularInline[ModelPrice, ProviderModel]):
    model = ModelPrice
    extra = 0


@admin.register(ProviderModel)
class ProviderModelAdmin(admin.ModelAdmin[ProviderModel]):
    list_display = ["label", "slug", "provider", "is_active", "is_tool", "is_default_judge", "is_default_filter"]
    list_filter = ["provider", "is_active", "is_tool"]
    list_editable = ["is_active"]
    search_fields = ["slug", "label", "upstream"]
    inlines = [PriceInline]
