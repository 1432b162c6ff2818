"""The simulated provider: a real HTTP server that speaks the OpenAI protocol and answers deterministically.

`python -m experiments.gateway.simulated` serves the demonstration, `running()` serves tests. A model is named
`sim/<personality>[:option[=value]]…` (`models.py`); the prompt says which part of which workflow it is asked for.
"""

from experiments.gateway.simulated.serving import Running, running

__all__ = ["Running", "running"]
