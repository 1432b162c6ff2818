"""What the experiments hear of their own runs, and what is done every few seconds."""

import logging
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import DatabaseError, connection, connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.models.signals import post_migrate

from accounts import audit_hooks, sessions
from experiments import workflows
from experiments.engine import batch_sending
from experiments.lab.observing import measuring
from experiments.lab.usage import billed
from experiments.lab.usage import days as usage_days
from experiments.library.annotations import notes
from experiments.library.instruments import builtin as instruments
from experiments.models.signals import engine_swept, run_finished, swept
from experiments.review import rubrics
from experiments.runs.seats import turns
from experiments.studies import running as studies

logger = logging.getLogger(__name__)


def connect() -> None:
    """Called once all apps are loaded."""
    audit_hooks.name_kinds(runs="run", experiments="experiment", files="export")
    notes.connect_search()
    workflows.load()
    studies.connect()
    post_migrate.connect(_store_builtin, sender=apps.get_app_config("experiments"), dispatch_uid="builtin")
    post_migrate.connect(_analyze, sender=apps.get_app_config("experiments"), dispatch_uid="analyze")
    run_finished.connect(_measure, dispatch_uid="observing")
    engine_swept.connect(_end_overdue_turns, dispatch_uid="turns")
    engine_swept.connect(_sweep_batches, dispatch_uid="batches")
    swept.connect(_sweep_usage, dispatch_uid="usage")
    swept.connect(_sweep_webhooks, dispatch_uid="webhooks")
    swept.connect(_sweep_bulk, dispatch_uid="bulk")
    swept.connect(_sweep_sign_ins, dispatch_uid="sign-ins")


def store_builtin() -> None:
    """Rows for the instruments and rubrics that come along, as far as they are missing or have changed."""
    instruments.ensure_builtin()
    rubrics.ensure_builtin()


def _store_builtin(sender: Any, **more: Any) -> None:
    """Unless only some of the migrations were wanted, whose tables may be older than the models."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        store_builtin()


def _analyze(sender: Any, using: str, plan: Sequence[tuple[Migration, bool]], **more: Any) -> None:
    """PostgreSQL has no statistics of a column that an update has added, and may plan queries on it that take minutes,
    until autovacuum analyzes the table: once a tenth of its rows have changed.
    """
    is_new = any(migration.initial and migration.app_label == sender.label for migration, _backwards in plan)
    if plan and not is_new and connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            cursor.execute("ANALYZE")


def _measure(sender: Any, run_id: UUID, **more: Any) -> None:
    """An ended run has nobody left to be told of a failure."""
    try:
        measuring.run_ended(run_id)
    except DatabaseError as error:
        logger.warning("run=%s: its end was not counted (%s)", run_id, type(error).__name__)


def _end_overdue_turns(sender: Any, **more: Any) -> None:
    turns.end_overdue_turns()


def _sweep_batches(sender: Any, **more: Any) -> None:
    batch_sending.sweep()


def _sweep_usage(sender: Any, **more: Any) -> None:
    if usage_days.roll_up():
        billed.wake()


def _sweep_sign_ins(sender: Any, **more: Any) -> None:
    sessions.forget_expired()


def _sweep_webhooks(sender: Any, **more: Any) -> None:
    _loaded("lab.webhooks.delivering").sweep()


def _sweep_bulk(sender: Any, **more: Any) -> None:
    bulk = _loaded("library.bulk.making")
    if bulk.sweep():
        bulk.wake()
    _loaded("library.imports.queueing").sweep()


def _loaded(name: str) -> Any:
    """A module that only those processes load which sweep: the others start sooner, and take less memory."""
    return import_module(f"experiments.{name}")
