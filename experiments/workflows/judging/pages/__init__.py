"""Judging a transcript again, from its pages."""
