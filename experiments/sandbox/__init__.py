"""Runs untrusted programs in isolation, and says what they did with their tests."""

from experiments.sandbox.isolation import probe, sufficient
from experiments.sandbox.runner import run
from experiments.sandbox.values import (
    Comparison,
    Execution,
    Layer,
    Limits,
    Probe,
    Result,
    SandboxError,
    Test,
    Unavailable,
    Verdict,
)

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
    "sufficient",
]
