"""What the page that asks models for outputs does beside what every set-up page does: it fills one dataset."""

from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from experiments.library.datasets.making import may_curate
from experiments.models import Dataset, ProviderModel
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.surface import Asked
from experiments.workflows.battles.pages.offers import Offer, offer_of
from experiments.workflows.battles.pages.setup import tick_all, unless_all

LONGEST_NAME = 200


def fill(form: DeclaredForm) -> None:
    """One's own datasets: whoever may only look at one adds no contestants to it, unless they curate the lab's."""
    rows = Dataset.objects.visible_to(form.reader).filter(state=Dataset.State.READY, modality=Dataset.Modality.TEXT)
    dataset = rows.filter(slug=form.of["slug"]).first()
    if dataset is None or not may_curate(form.reader, dataset):
        raise NotFound
    offered = offer_of(dataset)
    form.found = {"offer": offered}
    form.initial["makers"] = _unfinished(offered)
    tick_all(form, "subsets", [subset.name for subset in offered.subsets])


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """A contestant is called as its model where no name was written."""
    labels = {one.slug: one.label for one in ProviderModel.objects.available()}
    cast = {seat: one.copy() for seat, one in asked["cast"].items()}
    names: list[str] = []
    for seat, one in cast.items():
        name = str(one.pop("name") or labels.get(one["model"], one["model"]))[:LONGEST_NAME]
        if name in names:
            words = _("Two contestants would be called %(name)s.")
            raise Invalid({f"cast.{seat}": [words % {"name": name}]})
        names.append(name)
    found = {"dataset": form.of["slug"], "subsets": unless_all(form, "subsets"), "contestants": names}
    return {**asked, "config": {**asked["config"], **found}, "cast": cast}


def _unfinished(offered: Offer) -> list[dict[str, str]]:
    """The contestants that are models and lack outputs."""
    lacking = [one for one in offered.makers if one.outputs < offered.samples]
    return [{"model": one.model.slug, "name": one.name} for one in lacking if one.model]
