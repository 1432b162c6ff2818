"""Who votes: a person of the lab, or a visitor where the lab lets the public vote; and how much of it they may do."""

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.addresses import NOWHERE, address_of
from accounts.api_requests import MINUTE, counted
from accounts.errors import RateLimited
from accounts.models import User
from experiments.models import Battle, Dataset

DAY = timedelta(days=1)
VISITORS_SHARE = 10  # a visitor has so much less than a person of the lab
OFFERS_PER_MINUTE = 40  # to visitors of one address; each vote needs one
IPV6_NETWORK_BITS = 64
VISITOR = "visitor:"


@dataclass(frozen=True, slots=True)
class Voter:
    """ballot: what their battles carry. user: None for a visitor, whose address then counts as well."""

    ballot: str
    user: User | None = None
    address: str = ""

    @property
    def has_ballot(self) -> bool:
        """Not so a visitor without a session, to whom nothing can have been offered."""
        return self.ballot != VISITOR

    @property
    def votes_per_day(self) -> int:
        return settings.VOTES_PER_DAY if self.user else -(-settings.VOTES_PER_DAY // VISITORS_SHARE)


def person_voter(user: User) -> Voter:
    return Voter(f"user:{user.pk}", user)


def voter_of(request: HttpRequest) -> Voter:
    """Who asks. A visitor is known by their session; what is kept does not lead back to it. One who has none yet has
    voted on nothing: see `begin_voting`.
    """
    if isinstance(request.user, User):
        return person_voter(request.user)
    return Voter(ballot_of(request.user, request.session.session_key), None, _address(request))


def ballot_of(user: User | AnonymousUser, session: str | None) -> str:
    """What the battles of a person carry, or else those of a session."""
    if isinstance(user, User):
        return person_voter(user).ballot
    key = salted_hmac("experiments.votes", session, algorithm="sha256").hexdigest() if session else ""
    return f"{VISITOR}{key}"


def begin_voting(request: HttpRequest) -> Voter:
    """Who asks to vote. A visitor's session begins here: to look at something alone writes nothing.

    Raises RateLimited for an address from which too many new sessions come.
    """
    if not isinstance(request.user, User) and not request.session.session_key:
        _refuse_too_many(_address(request), "s")
        request.session.create()
    return voter_of(request)


def votable_datasets(user: User | AnonymousUser | None) -> QuerySet[Dataset]:
    """The datasets on which they may vote: ready, taking votes, with two contestants or more. None is a visitor."""
    asks = user if isinstance(user, User) else None
    seen = Dataset.objects.visible_to(asks) if asks else Dataset.objects.filter(visibility="public", state="ready")
    if asks is None and not settings.PUBLIC_VOTES:
        return seen.none()
    standing = Count("contestants", filter=Q(contestants__void_reason=""))
    return seen.filter(takes_votes=True, state="ready").annotate(standing=standing).filter(standing__gte=2)


def refuse_beyond_limit(voter: Voter) -> None:
    """Raises RateLimited for voters who have cast all their votes of the last 24 hours."""
    cast = Battle.objects.filter(ballot=voter.ballot, shown_left_first__isnull=False, judged__gte=timezone.now() - DAY)
    if cast.count() >= voter.votes_per_day:
        said = _("You have cast %(n)s votes in 24 hours, which is the limit. Come back tomorrow.")
        raise RateLimited(said % {"n": voter.votes_per_day})


def refuse_busy_address(voter: Voter) -> None:
    """Raises RateLimited for visitors of a busy address: a new session is no new person."""
    if voter.user is None:
        _refuse_too_many(voter.address, "o")


def _refuse_too_many(address: str, what: str) -> None:
    """Count that an address has come once more, for this, in a minute and in a day."""
    minute, day = (count_visit(address, what, seconds) for seconds in (MINUTE, int(DAY.total_seconds())))
    if day > settings.VOTES_PER_DAY:
        raise RateLimited(_("Your address has reached today's limit of votes. Come back tomorrow, or sign in."))
    if minute > OFFERS_PER_MINUTE:
        raise RateLimited(_("Too many votes from your address. Try again in a minute."))


def count_visit(address: str, what: str, seconds: int) -> int:
    """How often an address has come for this, this time included, in so many seconds from the first time on. Only its
    hash is stored, for as long.
    """
    hidden = salted_hmac("experiments.votes.address", address, algorithm="sha256").hexdigest()[:32]
    return counted(f"votes:{what}:{seconds}:{hidden}", seconds)


def _address(request: HttpRequest) -> str:
    """Of whom the request comes. Who has an IPv6 network of their own is one address."""
    address = ip_address(address_of(request) or NOWHERE)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)  # as a server that listens on both kinds names visitors by IPv4
    if isinstance(address, IPv6Address):
        return str(IPv6Address(int(address) >> IPV6_NETWORK_BITS << IPV6_NETWORK_BITS))
    return str(address)
