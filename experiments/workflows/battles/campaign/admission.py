"""Whether battles, or outputs, can be played as they are set up: the dataset, who takes part, and who judges."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import Dataset, Experiment, Participant
from experiments.workflows.battles.campaign.naming import SEAT, name_of
from experiments.workflows.battles.campaign.scope import named_but_missing, taking_part
from experiments.workflows.battles.config import JUDGES
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

if TYPE_CHECKING:
    from accounts.models import User

Error = tuple[str, str]


def check(experiment: Experiment) -> None:
    """Look again before it is played: what it is about may have changed. Contestants that were left out since are no
    obstacle, as long as two remain. Raises Invalid.
    """
    config = experiment.parsed_config()
    seated = list(experiment.participants.select_related("model"))
    check_setup(experiment.workflow, config, seated, owner=experiment.owner, is_new=False)
    if outdated := getattr(config, "outdated", ""):
        raise Invalid({"config.prompt": [outdated]})


def check_setup(
    workflow: str, config: Any, seated: Sequence[Participant], *, owner: "User", is_new: bool = True
) -> None:
    """Raises Invalid with a sentence for each field at fault. A dataset that the owner may not see is as one
    that does not exist.
    """
    dataset = Dataset.objects.visible_to(owner).filter(slug=config.dataset).first()
    if dataset is None:
        raise Invalid({"config.dataset": [_("There is no dataset of this name that you may see.")]})
    errors: dict[str, list[str]] = {}
    if workflow == OUTPUTS.slug and not _may_fill(dataset, owner):
        errors["config.dataset"] = [_("Contestants are added to a dataset by its owner, or by curators.")]
    complaints = _of_outputs if workflow == OUTPUTS.slug else _of_battles
    left_out = _of_those_left_out(dataset, config) if is_new and workflow != OUTPUTS.slug else ()
    for name, sentence in (*_of_dataset(dataset, config), *left_out, *complaints(dataset, config, seated)):
        errors.setdefault(name, []).append(sentence)
    if errors:
        raise Invalid(errors)


def _may_fill(dataset: Dataset, owner: "User") -> bool:
    return dataset.owner_id == owner.pk or owner.role in (owner.Role.CURATOR, owner.Role.ADMIN)


def warnings(dataset: Dataset, config: Any, seated: Sequence[Participant]) -> list[str]:
    """What is allowed, and yet deserves a thought."""
    judges = {judge.model_id: judge.model.label for judge in seated if judge.seat in JUDGES}
    own = [one for one in taking_part(dataset, config) if one.model_id in judges]
    said = [_("%(judge)s judges its own outputs.") % {"judge": one} for one in own]
    modality = PROMPTS[config.prompt].modalities if config.prompt in PROMPTS else ()
    if dataset.modality == Dataset.Modality.TEXT and "text" in modality and dataset.pictures.exists():
        said.append(_("Samples hold pictures: a judge that cannot read them fails on those."))
    return said


def _of_dataset(dataset: Dataset, config: Any) -> Iterator[Error]:
    if not dataset.is_ready:
        yield "config.dataset", _("The dataset is not ready yet: wait until it has been read.")
    if config.subsets:
        known = set(dataset.samples.filter(subset__in=config.subsets).values_list("subset", flat=True).distinct())
        for name in sorted(set(config.subsets) - known):
            yield "config.subsets", _("The dataset has no subset called %(name)s.") % {"name": name}


def _of_those_left_out(dataset: Dataset, config: Any) -> Iterator[Error]:
    void = dataset.contestants.filter(name__in=config.contestants).exclude(void_reason="")
    for name in void.values_list("name", flat=True):
        yield "config.contestants", _("%(name)s is left out of ratings: choose others.") % {"name": name}


def _of_battles(dataset: Dataset, config: Any, seated: Sequence[Participant]) -> Iterator[Error]:
    for name in named_but_missing(dataset, config.contestants):
        yield "config.contestants", _("The dataset has no contestant called %(name)s.") % {"name": name}
    if len(taking_part(dataset, config)) < 2:
        yield "config.contestants", _("Battles need the outputs of at least two contestants.")
    prompt = PROMPTS.get(config.prompt)
    if prompt is None:
        yield "config.prompt", _("There is no judge prompt of this name.")
    elif dataset.modality not in prompt.modalities:
        yield "config.prompt", _("This prompt does not judge outputs of this kind: choose another one.")
    yield from _of_judges(dataset, seated)


def _of_judges(dataset: Dataset, seated: Sequence[Participant]) -> Iterator[Error]:
    for participant in seated:
        if dataset.modality == Dataset.Modality.IMAGE and not participant.model.accepts.images:
            message = _("%(model)s cannot look at pictures: choose a judge that can.")
            yield f"cast.{participant.seat}", message % {"model": participant.model.label}
    known: set[tuple[int, str]] = set()
    for judge in (one for one in seated if one.seat in JUDGES):
        identity = (judge.model_id, str(sorted(judge.params.items())))
        if identity in known:
            yield f"cast.{judge.seat}", _("This judge is seated twice: take another model, or other parameters.")
        known.add(identity)


def _of_outputs(dataset: Dataset, config: Any, seated: Sequence[Participant]) -> Iterator[Error]:
    if dataset.modality != Dataset.Modality.TEXT:
        yield "config.dataset", _("Only texts can be asked for here: upload the pictures of your models instead.")
    names: set[str] = set()
    for participant in (one for one in seated if one.seat.startswith(SEAT)):
        name = name_of(config, participant)
        if name in names:
            yield f"cast.{participant.seat}", _("Two contestants are called %(name)s.") % {"name": name}
        names.add(name)
        known = dataset.contestants.filter(name=name).exclude(model=participant.model).first()
        if known and known.outputs.exists():
            message = _("%(name)s has outputs of another origin: give this contestant a name of its own.")
            yield f"cast.{participant.seat}", message % {"name": name}
