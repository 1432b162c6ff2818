"""People in seats: what they are asked, their page, and their answers. `turns.py` has the verbs."""
