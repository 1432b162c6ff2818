"""What a lab has beside its runs: models and keys, budgets and usage, webhooks, and what operators look at.

`health` says whether the parts answer that a run needs.
"""
