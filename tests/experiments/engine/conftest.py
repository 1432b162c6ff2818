"""What the tests of the engine share."""

from tests.experiments.engine.talks import say, talk  # noqa: F401 — fixtures of the talks with a model
