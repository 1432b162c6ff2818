"""What the battles, or the outputs, of an experiment are about, and whether they can be played as they are set up: the
dataset, who takes part, who judges, and on which boards.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.library.datasets.making import may_curate
from experiments.models import Battle, Contestant, Dataset, Experiment, Output, Participant
from experiments.workflows.battles.campaign.boards import model_board
from experiments.workflows.battles.config import JUDGES
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

if TYPE_CHECKING:
    from accounts.models import User

SEAT = "contestant-"
Pair = tuple[int, int]
Fault = tuple[str, str]  # a field, and what is wrong with it


@dataclass(frozen=True, slots=True)
class Scope:
    """contestants: those that take part, by key. boards: seats of judges to their boards' keys."""

    dataset: Dataset
    config: Any
    contestants: tuple[Contestant, ...]
    boards: Mapping[str, int]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs to be compared, the smaller key first; with `pairs: new` those with somebody new in the version."""
        new = {one.pk for one in self.contestants if one.version == self.config.version}
        every = combinations([one.pk for one in self.contestants], 2)
        return [pair for pair in every if self.config.pairs == "all" or new.intersection(pair)]


def scope_of(experiment: Experiment) -> Scope:
    """Raises Dataset.DoesNotExist when its dataset is gone."""
    config = experiment.parsed_config()
    dataset = Dataset.objects.get(slug=config.dataset)
    judges = experiment.participants.filter(seat__in=JUDGES).select_related("model")
    boards = {judge.seat: board_of(dataset, config, judge) for judge in judges}
    return Scope(dataset, config, taking_part(dataset, config), boards)


def board_of(dataset: Dataset, config: Any, judge: Participant) -> int:
    """The key of the board on which this judge's battles stand; made when there is none."""
    version = config.prompt_version
    return model_board(dataset, judge.model, prompt=config.prompt, prompt_version=version, params=judge.params).pk


def taking_part(dataset: Dataset, config: Any) -> tuple[Contestant, ...]:
    """Who is compared, by key: those named, or all that have outputs and joined by then. Void ones never are."""
    rows = dataset.contestants.filter(Exists(Output.objects.filter(contestant=OuterRef("pk"))), void_reason="")
    if config.contestants:
        return tuple(rows.filter(name__in=config.contestants).order_by("pk"))
    return tuple(one for one in rows.order_by("pk") if _had_joined(one.version, config.version))


def _had_joined(version: str, by: str) -> bool:
    """Versions end in a date: a later one is not part of an earlier experiment."""
    return not version or not by or version == by or version[-8:] <= by[-8:]


def name_version(scope: Scope) -> None:
    """Whoever takes part for the first time, and says no other version, joins with that of the experiment."""
    version = scope.config.version
    battles = Battle.objects.filter(board__in=list(scope.boards.values()))
    for one in scope.contestants if version else ():
        if not one.version and not battles.filter(Q(left=one) | Q(right=one)).exists():
            Contestant.objects.filter(pk=one.pk, version="").update(version=version)
            one.version = version


def name_of(config: Any, participant: Participant) -> str:
    """What the contestant of a seat is called that is asked for outputs: as the configuration says, else as its
    model.
    """
    number = int(participant.seat.removeprefix(SEAT)) - 1
    return str(config.contestants[number]) if number < len(config.contestants) else participant.model.label[:200]


# --- whether it can be played ---


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
    dataset = visible_dataset(config.dataset, owner)
    if workflow == OUTPUTS.slug:
        faults: Iterable[Fault] = _of_outputs(dataset, config, seated, owner)
    else:
        faults = _of_battles(dataset, config, seated, is_new)
    errors: dict[str, list[str]] = {}
    for name, sentence in (*_of_dataset(dataset, config), *faults):
        errors.setdefault(name, []).append(sentence)
    if errors:
        raise Invalid(errors)


def visible_dataset(slug: str, person: "User") -> Dataset:
    """Raises Invalid for one that the person may not see."""
    dataset = Dataset.objects.visible_to(person).filter(slug=slug).first()
    if dataset is None:
        raise Invalid({"config.dataset": [_("You can see no dataset with this name.")]})
    return dataset


def warnings(dataset: Dataset, config: Any, seated: Sequence[Participant]) -> list[str]:
    """What is allowed, and yet deserves a thought."""
    judges = {judge.model_id: judge.model.label for judge in seated if judge.seat in JUDGES}
    own = [one for one in taking_part(dataset, config) if one.model_id in judges]
    said = [_("%(judge)s judges its own outputs.") % {"judge": one} for one in own]
    modality = config.judge_prompt.modalities if config.judge_prompt else ()
    if dataset.modality == Dataset.Modality.TEXT and "text" in modality and dataset.pictures.exists():
        said.append(_("Samples have pictures: a judge that cannot read them fails on those."))
    return said


def _of_dataset(dataset: Dataset, config: Any) -> Iterator[Fault]:
    if not dataset.is_ready:
        yield "config.dataset", _("The dataset is not ready. Wait until it has been read.")
    if config.subsets:
        known = set(dataset.samples.filter(subset__in=config.subsets).values_list("subset", flat=True).distinct())
        for name in sorted(set(config.subsets) - known):
            yield "config.subsets", _("The dataset has no subset “%(name)s”.") % {"name": name}


def _of_battles(dataset: Dataset, config: Any, seated: Sequence[Participant], is_new: bool) -> Iterator[Fault]:
    named = dict(dataset.contestants.filter(name__in=config.contestants).values_list("name", "void_reason"))
    for name in (name for name, reason in named.items() if reason and is_new):
        yield "config.contestants", _("%(name)s is left out of ratings: choose others.") % {"name": name}
    for name in (name for name in config.contestants if name not in named):
        yield "config.contestants", _("The dataset has no contestant “%(name)s”.") % {"name": name}
    if len(taking_part(dataset, config)) < 2:
        yield "config.contestants", _("Battles need outputs of at least two contestants.")
    prompt = config.judge_prompt
    if prompt is None:
        yield "config.prompt", _("There is no judge prompt with this name.")
    elif dataset.modality not in prompt.modalities:
        yield "config.prompt", _("This prompt cannot judge this kind of output. Choose another one.")
    for participant in seated:
        if dataset.modality == Dataset.Modality.IMAGE and not participant.model.accepts.images:
            message = _("%(model)s cannot see pictures. Choose a judge that can.")
            yield f"cast.{participant.seat}", message % {"model": participant.model.label}
    known: set[tuple[int, str]] = set()
    for judge in (one for one in seated if one.seat in JUDGES):
        identity = (judge.model_id, str(sorted(judge.params.items())))
        if identity in known:
            yield f"cast.{judge.seat}", _("This judge is chosen twice. Choose another model, or other parameters.")
        known.add(identity)


def _of_outputs(dataset: Dataset, config: Any, seated: Sequence[Participant], owner: "User") -> Iterator[Fault]:
    if not may_curate(owner, dataset):
        yield "config.dataset", _("Contestants are added to a dataset by its owner, or by curators.")
    if dataset.modality != Dataset.Modality.TEXT:
        yield "config.dataset", _("Models can be asked for texts only. Upload pictures instead.")
    names: set[str] = set()
    for participant in (one for one in seated if one.seat.startswith(SEAT)):
        name = name_of(config, participant)
        if name in names:
            yield f"cast.{participant.seat}", _("Two contestants have the name %(name)s.") % {"name": name}
        names.add(name)
        known = dataset.contestants.filter(name=name).exclude(model=participant.model).first()
        if known and known.outputs.exists():
            message = _("%(name)s already has outputs from another source. Choose another name for this contestant.")
            yield f"cast.{participant.seat}", message % {"name": name}
