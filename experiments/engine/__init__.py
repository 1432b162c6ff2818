"""Drives runs: RQ enqueues and runs its workers, the database is the source of truth.

From the outside in: `jobs` (the job of a worker), `driver` (many runs), `run_execution` (one run: what is asked next,
and what follows when a call has ended). `requests` prepares a call and `reservations` sets its cost aside. `executor`
makes it, and `recording` writes its beginning and its end. `events` tells viewers. With callers, `handover` has it made
by a process of its own (`callers`), which outlives a worker.
"""
