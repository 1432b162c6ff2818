"""The wire to the viewers: which group a run's viewers join, and what is sent to it."""

from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer


def group_of(run_id: UUID | str) -> str:
    return f"run.{run_id}"


async def publish(run_id: UUID, message: dict[str, Any]) -> None:
    layer: Any = get_channel_layer()
    await layer.group_send(group_of(run_id), message)
