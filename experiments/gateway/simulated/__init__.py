"""The simulated provider: a real HTTP server that speaks the OpenAI protocol and answers deterministically.

`python -m experiments.gateway.simulated` serves it. A model is named `sim/<personality>[:option[=value]]…`
(`models.py`); the prompt says which part of which workflow it is asked for.
"""
