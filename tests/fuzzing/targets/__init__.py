"""Every reader that is fuzzed, by its name."""

from tests.fuzzing.target import Target
from tests.fuzzing.targets import answers, client, files, providers, streams, texts

ALL: dict[str, Target] = {
    target.name: target for module in (streams, providers, answers, texts, files, client) for target in module.TARGETS
}
