"""The workflows by their slugs: the packages here, and those that installed distributions bring.

A distribution names its workflow by an entry point of the group GROUP: `slug = "package:WORKFLOW"`. One that cannot be
loaded is left out, and BROKEN says why.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules

from experiments.workflows.base.events import OF_ENGINE, EventData
from experiments.workflows.base.records import SHARED
from experiments.workflows.base.surface import Surface
from experiments.workflows.base.workflow import Services, Workflow, missing

GROUP = "arena_lab.workflows"
LONGEST_SLUG = 20
LONGEST_TYPE = 40
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
            _check(workflow, point.name, taken)
        except Exception as error:  # whatever a stranger's module does
            _leave_out(point.name, error)
        else:
            yield workflow


def _leave_out(slug: str, error: Exception) -> None:
    BROKEN[slug] = f"{type(error).__name__}: {error}"
    logger.warning("workflow_left_out", extra={"workflow": slug, "error": BROKEN[slug]})


def _check(workflow: Workflow, name: str, taken: Mapping[str, Workflow]) -> None:
    """Raises ValueError for a slug or a type of event that cannot be its own."""
    if workflow.slug != name or len(name) > LONGEST_SLUG or name in taken:
        raise ValueError(f"{name!r} is no slug for it: taken, too long, or not its own")
    for event in (*workflow.records, *workflow.events):
        type_ = str(event.model_fields["type"].default)
        if not type_.startswith(f"{name.replace('-', '_')}_") or len(type_) > LONGEST_TYPE:
            raise ValueError(f"{type_!r} is no type of its events: too long, or without the slug at its beginning")


def registry() -> dict[str, Workflow]:
    """Those that come along, and the installed ones, in the order of lists."""
    own = {workflow.slug: workflow for workflow in _own()}
    every = [*own.values(), *_installed(own)]
    return {workflow.slug: workflow for workflow in sorted(every, key=lambda one: (one.place, one.slug))}


REGISTRY = registry()


def load() -> None:
    """Connect the receivers of each. Called once all apps are loaded, before routes are made of them. Of those that
    come along, surfaces are loaded when a page first needs one; of an installed one everything is, and it is left out
    where that fails.
    """
    for slug, workflow in list(REGISTRY.items()):
        if workflow.config.__module__.startswith(f"{__name__}."):
            services_of(slug).connect()
            continue
        try:
            surface_of(slug)
            import_module(workflow.rows or __name__)
            services_of(slug).connect()
        except Exception as error:  # whatever a stranger's module does
            _leave_out(slug, error)
            del REGISTRY[slug]


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


def services_of(slug: str) -> Services:
    """What a workflow does outside its runs; nothing where it is not installed (any more)."""
    workflow = workflow_of(slug)
    services: Services = import_module(workflow.services).SERVICES if workflow.services else Services()
    return services


@cache
def event_classes() -> Mapping[str, type[EventData]]:
    """What events of each type tell: of the engine, of what workflows share, and of their own."""
    findings = (*SHARED, *(finding for workflow in REGISTRY.values() for finding in workflow.records))
    told = (finding.tells or finding for finding in findings)
    own = (event for workflow in REGISTRY.values() for event in workflow.events)
    return {event.model_fields["type"].default: event for event in (*OF_ENGINE, *told, *own)}
