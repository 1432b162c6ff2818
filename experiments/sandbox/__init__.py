"""Runs programs that nobody has read, keeps them in, and says what they did with their tests."""

from experiments.sandbox.errors import SandboxError, Unavailable
from experiments.sandbox.limits import Limits
from experiments.sandbox.probing import probe
from experiments.sandbox.runner import run
from experiments.sandbox.values import Comparison, Execution, Layer, Probe, Result, Test, Verdict

__all__ = [
    "Comparison",
    "Execution",
    "Layer",
    "Limits",
    "Probe",
    "Result",
    "SandboxError",
    "Test",
    "Unavailable",
    "Verdict",
    "probe",
    "run",
]
