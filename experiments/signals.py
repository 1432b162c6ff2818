"""News that travels upwards. `run_finished` is sent after the commit that ended a run, with `run_id`."""

from django.dispatch import Signal

run_finished = Signal()
