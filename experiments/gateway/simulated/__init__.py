"""The simulated provider: a real HTTP server that speaks the OpenAI protocol and answers deterministically.

`python -m experiments.gateway.simulated` serves the demonstration; `running()` serves tests.
"""

from experiments.gateway.simulated.serving import Running, running

__all__ = ["Running", "running"]
