"""Instruments held to people: a sample of what one has judged is labeled blind in a review queue, and its card says how
far both agree and what the rates are once the judge's errors are taken out of them.

`services.py` makes the queue with the sample that `sampling.py` draws, `quantities.py` has what is compared, in
numbers, `units.py` reads what an instrument said and `labels.py` what people did, `comparison.py` how far they agree,
`correction.py` the corrected rates of a scan, `card.py` the card of a version; `views.py` and `api.py` show them.
"""
