"""The final prompts of a debate: changing one that is locked makes another run, and both stay."""

from dataclasses import dataclass

from experiments.models import Message, Run
from experiments.runs.lineage import Lineage


@dataclass(frozen=True, slots=True)
class Version:
    """number: from 1 on, in the order in which they were made. text: the final prompt of `run`."""

    number: int
    run: Run
    text: str
    is_current: bool


def versions(run: Run, lineage: Lineage | None) -> list[Version]:
    """Of the runs that came from each other, those that have a final prompt of their own. Empty when there is one."""
    if lineage is None:
        return []
    family = {row.node.run.pk: row.node.run for row in lineage.rows}
    said = Message.objects.filter(run__in=family, parsed__kind="final_prompt", superseded=False)
    texts: dict[str, Version] = {}
    for message in sorted(said, key=lambda message: (family[message.run_id].created, message.run_id)):
        known = texts.get(message.raw_text)
        is_current = message.run_id == run.pk
        if known is None or is_current:
            number = known.number if known else len(texts) + 1
            texts[message.raw_text] = Version(number, family[message.run_id], message.raw_text, is_current)
    return list(texts.values()) if len(texts) > 1 else []
