"""The whole platform under many live runs and many viewers: `python -m benchmarks.load --help`."""
