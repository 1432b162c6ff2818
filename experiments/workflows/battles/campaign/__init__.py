"""Battles: planned and shared out over runs, counted, voted on, voided, exported and imported."""
