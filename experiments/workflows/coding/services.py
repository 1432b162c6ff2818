"""What contests do outside their runs."""

from experiments.workflows.base.workflow import Services
from experiments.workflows.coding.pages.novelty import remember_earlier

SERVICES = Services(queued=remember_earlier)
