"""How contestants are shown, what is known of them, and whether they are left out of ratings."""

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Forbidden, Invalid
from experiments.library.datasets.making import may_curate
from experiments.models import Contestant
from experiments.workflows.battles.campaign.counting import note_change

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_REASON = 300
REGISTERED = ("variant_of", "base_model", "released", "quantization", "upstream", "prompt")


def describe(contestant: Contestant, *, by: "User", label: str, link: str) -> None:
    """What it is shown as, and where more about it is told; both were checked by a form."""
    before, was = str(contestant), contestant.link
    with transaction.atomic():
        _change(contestant, by, label=label.strip(), link=link)
        if (str(contestant), link) != (before, was):
            links = {"link_before": was, "link": link} if link != was else {}
            named = f"{contestant.dataset} · {contestant}"
            audit.record(audit.Action.RENAMED, by=by, of=contestant, name=named, before=before, **links)


def enter(contestant: Contestant, *, by: "User", **facts: Any) -> None:
    """Put what is known of it into the register: fields of REGISTERED, checked by a form. Others stay as they are."""
    with transaction.atomic():
        before = Contestant.objects.values(*REGISTERED).get(pk=contestant.pk)
        _change(contestant, by, **facts)
        after = Contestant.objects.values(*REGISTERED).get(pk=contestant.pk)
        if changed := [name for name in REGISTERED if before[name] != after[name]]:
            named = f"{contestant.dataset} · {contestant}"
            audit.record(audit.Action.CONTESTANT_CHANGED, by=by, of=contestant, name=named, changed=changed)


def void(contestant: Contestant, *, by: "User", reason: str) -> None:
    """Leave it out of ratings, with a reason that everybody is shown. Its battles are kept."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        _require_curator(contestant, by)
        raise Invalid(reason=_("Give a reason of up to 300 characters. Everybody can read it."))
    with transaction.atomic():
        _change(contestant, by, void_reason=reason)
        named = f"{contestant.dataset} · {contestant}"
        audit.record(audit.Action.VOIDED, by=by, of=contestant, name=named, reason=reason)


def restore(contestant: Contestant, *, by: "User") -> None:
    """Let it be rated again."""
    with transaction.atomic():
        _change(contestant, by, void_reason="")
        audit.record(audit.Action.RESTORED, by=by, of=contestant, name=f"{contestant.dataset} · {contestant}")


def _change(contestant: Contestant, by: "User", **fields: Any) -> None:
    """With the boards that show it. Raises Forbidden."""
    _require_curator(contestant, by)
    for name, value in fields.items():
        setattr(contestant, name, value)
    with transaction.atomic():
        contestant.save(update_fields=list(fields))
        for board in contestant.dataset.boards.order_by("pk").values_list("pk", flat=True):
            note_change(board)


def _require_curator(contestant: Contestant, by: "User") -> None:
    if not may_curate(by, contestant.dataset):
        raise Forbidden(_("Only the dataset's owner, curators and administrators can change its contestants."))
