"""Studies: designed sets of runs over any workflow, planned beforehand and analyzed by `leaderboard.ratings.studies`.

Begin with `design` (factors, conditions, the order of runs) and `plan` (outcomes, contrasts); `services` has what
changes a study, `running` queues its runs, `outcomes` reads what came of them, `results` analyzes it and `folder`
exports it so that anybody can recompute the numbers.
"""
