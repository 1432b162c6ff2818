"""Campaigns of battles: set up, previewed, shown, stopped; what their models are asked for, and votes."""
