"""Plays all workflows at once while things break, then compares what everybody has written down.

    python -m benchmarks.faults --seed 7 --minutes 10 [--database postgresql|sqlite] [--only worker,redis,…]

A whole platform (`stage.py`) serves people who play all six workflows (`players.py`) and viewers (`screens.py`), and
asks a simulated provider through a proxy that spoils answers (`proxy.py`). Faults follow from the seed (`schedule.py`,
`kinds.py`). In the end everything heals, and three books are held against each other: the provider's, the proxy's and
ours (`record.py`, `checks/`). `report.py` prints the table; the exit code is 1 when anything differs.
"""
