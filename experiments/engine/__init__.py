"""Drives runs: RQ is the doorbell and the process manager, the database is the truth."""
