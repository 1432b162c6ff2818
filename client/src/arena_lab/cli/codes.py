"""What the command ends with; `docs/api.md` lists them."""

DONE = 0
REFUSED = 1
MISUSED = 2  # argparse's own
UNREACHABLE = 3
NO_TOKEN = 4
RUN_FAILED = 5
RUN_STOPPED = 6
RUN_WAITS = 7
DETACHED = 130

OF_STATE = {"completed": DONE, "failed": RUN_FAILED, "stopped": RUN_STOPPED}
