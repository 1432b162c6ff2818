"""Figures of what a scan found."""

from django import template

from experiments.runs import figures

register = template.Library()
register.filter(figures.in_percent)
