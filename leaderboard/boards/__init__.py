"""Ladders and their ratings: `jobs` finds those that are out of date, `compute` brings them up to date.

`ranking` makes rows of the counts of a `Board`, `standings` is the value that is stored and shown. `coding` and
`council` are the ladders of runs. `listing`, `tables` and `downloads` show them.
"""
