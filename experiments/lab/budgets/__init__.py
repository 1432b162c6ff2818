"""Budgets: set by people, kept by the engine, shown where something is started."""
