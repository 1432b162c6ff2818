"""A run once it is there: its list and page, what people do with it, and what is made of it.

Begin with `actions` (start, stop, resume, and other verbs), `run_list`, `views` and `run_api`, and `timeline` (what the
page of a run shows). `admission` says who may do what. The subpackages have docstrings of their own.
"""
