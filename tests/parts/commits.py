"""`transaction.on_commit` where tests roll back: hooks run when the outermost block ends that is not the test's own."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import Atomic, get_connection


def _only_the_tests_blocks_are_open(connection: BaseDatabaseWrapper) -> bool:
    blocks = connection.atomic_blocks  # type: ignore[attr-defined]
    return bool(blocks) and all(block._from_testcase for block in blocks) and not connection.needs_rollback


def _run_hooks(connection: BaseDatabaseWrapper) -> None:
    while connection.run_on_commit:
        _savepoints, hook, _is_robust = connection.run_on_commit.pop(0)
        hook()


def install() -> None:
    """Once for the process."""
    leave, on_commit = Atomic.__exit__, BaseDatabaseWrapper.on_commit

    def leave_and_run(self: Atomic, *exception: Any) -> None:
        leave(self, *exception)
        connection = get_connection(self.using)
        if not self._from_testcase and _only_the_tests_blocks_are_open(connection):  # type: ignore[attr-defined]
            _run_hooks(connection)

    def on_commit_or_now(self: BaseDatabaseWrapper, func: Any, robust: bool = False) -> None:
        on_commit(self, func, robust)
        if _only_the_tests_blocks_are_open(self):
            _run_hooks(self)

    Atomic.__exit__ = leave_and_run  # type: ignore[method-assign]
    BaseDatabaseWrapper.on_commit = on_commit_or_now  # type: ignore[method-assign]
