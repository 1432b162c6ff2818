"""Contests of coding: set up, watched, counted."""
