"""The workflows by their slugs: the packages here, and those that installed distributions bring.

A distribution names its workflow by an entry point of the group GROUP: `slug = "package:WORKFLOW"`. One that cannot be
loaded is left out, and BROKEN says why.
"""

import logging
from collections.abc import Iterator, Mapping
from importlib import import_module, metadata
from pkgutil import iter_modules

from experiments.workflows.base.surface import Surface
from experiments.workflows.base.workflow import Workflow, missing

GROUP = "arena_lab.workflows"
LONGEST_SLUG = 20
BROKEN: dict[str, str] = {}  # entry points that could not be loaded, with the reason

logger = logging.getLogger(__name__)


def _own() -> list[Workflow]:
    packages = [module.name for module in iter_modules(__path__) if module.ispkg and module.name != "base"]
    found: list[Workflow] = [import_module(f"{__name__}.{name}").WORKFLOW for name in packages]
    return found


def _installed(taken: Mapping[str, Workflow]) -> Iterator[Workflow]:
    for point in metadata.entry_points(group=GROUP):
        try:
            workflow = point.load()
            if workflow.slug != point.name or len(point.name) > LONGEST_SLUG or workflow.slug in taken:
                raise ValueError(f"{point.name!r} is no slug for it: taken, too long, or not its own")
        except Exception as error:  # whatever a stranger's module does
            BROKEN[point.name] = f"{type(error).__name__}: {error}"
            logger.warning("workflow_left_out", extra={"workflow": point.name, "error": BROKEN[point.name]})
        else:
            yield workflow


def registry() -> dict[str, Workflow]:
    """Those that come along, and the installed ones, in the order of lists."""
    own = {workflow.slug: workflow for workflow in _own()}
    every = [*own.values(), *_installed(own)]
    return {workflow.slug: workflow for workflow in sorted(every, key=lambda one: (one.place, one.slug))}


REGISTRY = registry()


def workflow_of(slug: str) -> Workflow:
    """The workflow of a run; a stand-in where it is not installed (any more)."""
    return REGISTRY.get(slug) or missing(slug)


def surface_of(slug: str) -> Surface:
    """What people meet of a workflow; the slug and nothing else where it is not installed (any more)."""
    workflow = REGISTRY.get(slug)
    if workflow is None or not workflow.surface:
        return Surface(name=slug)
    surface: Surface = import_module(workflow.surface).SURFACE
    return surface
