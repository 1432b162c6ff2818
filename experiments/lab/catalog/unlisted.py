"""Models that the lab knows from imported runs alone: they have a name, no server, and cannot be chosen."""

from collections.abc import Collection

from experiments.models import Provider, ProviderModel

NOWHERE = "http://imported.invalid/v1"  # a name that never resolves (RFC 2606)
IMPORTED, IMPORTED_SIMULATED = "imported", "imported-simulated"
PROVIDERS = (IMPORTED, IMPORTED_SIMULATED)


def known_or_entered(slugs: Collection[str], simulated: Collection[str]) -> dict[str, ProviderModel]:
    """The lab's models of these names; those that it does not know are entered. Call inside a transaction."""
    wanted = set(slugs)
    missing = wanted - set(ProviderModel.objects.filter(slug__in=wanted).values_list("slug", flat=True))
    _enter(IMPORTED, missing.difference(simulated))
    _enter(IMPORTED_SIMULATED, missing.intersection(simulated))
    return {model.slug: model for model in ProviderModel.objects.filter(slug__in=wanted)}


def adopt(provider: Provider, upstreams: Collection[str]) -> None:
    """A model that a provider lists or an administrator enters is that provider's from now on."""
    if provider.name in PROVIDERS:
        return
    own = provider.models.filter(upstream__in=upstreams).values("upstream")
    unlisted = ProviderModel.objects.filter(provider__name__in=PROVIDERS, upstream__in=upstreams)
    unlisted.exclude(upstream__in=own).update(provider=provider, is_active=True)


def _enter(name: str, slugs: Collection[str]) -> None:
    if not slugs:
        return
    defaults = {"base_url": NOWHERE, "is_active": False, "is_simulated": name == IMPORTED_SIMULATED}
    provider, _ = Provider.objects.get_or_create(name=name, defaults=defaults)
    rows = [
        ProviderModel(provider=provider, slug=slug, upstream=slug, label=slug, is_active=False)
        for slug in sorted(slugs)
    ]
    ProviderModel.objects.bulk_create(rows, ignore_conflicts=True)
