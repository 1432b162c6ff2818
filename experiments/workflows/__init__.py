"""The systems: each workflow is one module with a `Config`, its `SEATS` and a generator `run(config, cast)`.

SUBJECTS are the seats that a judge scores.
"""

from types import ModuleType

from experiments.workflows import arena, battles, coding, council, debate, judging, outputs, starchamber

REGISTRY: dict[str, ModuleType] = {
    "arena": arena,
    "starchamber": starchamber,
    "council": council,
    "debate": debate,
    "judging": judging,
    "battles": battles,
    "outputs": outputs,
    "coding": coding,
}
