"""Figures of ratings on the pages of battles."""

from django import template

from experiments.runs import figures

register = template.Library()
register.filter(figures.in_percent)
register.filter(figures.bounds)
register.filter(figures.rank_range)
register.filter(figures.rating_or_bound)
