"""People's own judgment: queues of what is to be reviewed, answers, agreement, flags, and which runs count.

Verbs are in `queues`, `slots` (who has which item), `answers`, `rubrics`, `flagging` and `curation`. `agreement` reads
the answers of a queue and makes the report; `coefficients` computes each measure in it.
"""
