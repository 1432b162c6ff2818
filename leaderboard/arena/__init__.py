"""The public arena: visitors ask, two models answer side by side without names, and a vote counts on a board.

Begin with `battles.py` (begin, answers, vote). `opening.py` sets it up, `publishing.py` decides which prompts are
shown.
"""
