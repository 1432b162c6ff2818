"""Figures of what a scan found."""

from django import template

from experiments.runs import figures
from experiments.workflows.scan.pages import drawing

register = template.Library()
register.filter(figures.in_percent)
register.filter(drawing.bar)
