"""What is counted against budgets is the sum of the calls, fits, and leaves nothing set aside."""

from collections.abc import Iterator
from decimal import Decimal

from benchmarks.faults.checks.ledger import SENT
from benchmarks.faults.facts import Facts

NOTHING = Decimal(0)


def accounts(facts: Facts) -> Iterator[str]:
    calls = {call.id: call for call in facts.calls}
    for account in facts.accounts:
        counted = [calls[one] for one in account.counted if one in calls]
        ended = [call for call in counted if call.state != SENT]
        spent = sum((call.reserved or NOTHING if call.cost is None else call.cost for call in ended), NOTHING)
        if spent != account.spent:
            yield f"{account.name} says that {account.spent} is spent; its calls come to {spent}"
        if len(counted) != len(set(account.counted)) or len(account.counted) != len(set(account.counted)):
            yield f"{account.name} counts {len(account.counted)} calls, of which {len(set(account.counted))} are there"


def overdrawn(facts: Facts) -> Iterator[str]:
    for account in facts.accounts:
        taken = account.earlier + account.spent + account.reserved
        if account.limit is not None and taken > account.limit:
            yield f"{account.name} allows {account.limit}; {taken} is spent and set aside"


def still_reserved(facts: Facts) -> Iterator[str]:
    for account in facts.accounts:
        if account.reserved:
            yield f"{account.name} has {account.reserved} set aside, and nothing is under way"
