"""Drives runs: RQ enqueues and runs its workers, the database is the source of truth."""
