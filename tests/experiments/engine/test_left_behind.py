"""What a dead worker leaves behind in Redis, and for how long, is nothing to the next one."""

import django_rq
import pytest
from rq.executions import Execution
from rq.registry import StartedJobRegistry

from experiments.engine.jobs import QUEUE, wake
from experiments.models import Run
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]


@pytest.fixture
def left_behind():
    """A bell that was being answered, by a worker of which Redis has forgotten everything else."""
    queue = django_rq.get_queue(QUEUE)
    job = queue.enqueue("experiments.engine.jobs.drive", "nobody", result_ttl=0, failure_ttl=0)
    queue.remove(job)
    with queue.connection.pipeline() as pipeline:
        execution = Execution.create(job, ttl=60, pipeline=pipeline)
        pipeline.execute()
    queue.connection.delete(execution.key)
    registry = StartedJobRegistry(queue=queue)
    queue.connection.zadd(registry.key, {execution.composite_key: 1})
    return registry, execution.composite_key


def test_a_worker_starts_and_plays_after_one_that_died_long_ago(arena, start, provider, left_behind):
    run = start(arena(max_turns=1))
    wake(run.pk)

    worker = Worker()
    try:
        assert wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "the run to end", seconds=30)
    finally:
        worker.kill()

    registry, forgotten = left_behind
    assert registry.connection.zscore(registry.key, forgotten) is None
