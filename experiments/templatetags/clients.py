"""Clients of other systems, on the pages of what they have begun here."""

from django import template

from experiments.models.client import ClientSystem

register = template.Library()


@register.filter
def client_name(system: str) -> str:
    """Whose client it was, by the name that its system has in every language."""
    return str(ClientSystem(system).label)
