"""Datasets: read in a limited process of their own, looked at, extended by contestants' outputs."""
