"""The systems: each workflow is one file with a `Config`, its `SEATS` and a generator `run(config, cast)`."""

from types import ModuleType

from experiments.workflows import arena

REGISTRY: dict[str, ModuleType] = {
    "arena": arena,
}
