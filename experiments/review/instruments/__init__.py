"""Instruments held to people: a sample of what one has judged is labeled blind in a review queue, and its card says how
far both agree and what the rates are once the judge's errors are taken out of them.

`sampling.py` draws the sample and makes the queue, `quantities.py` has what is compared, in numbers, `judged.py` reads
what an instrument and people said of the same units, `correction.py` the corrected rates of a scan, `card.py` the card
of a version; `views.py` and `api.py` show them.
"""
