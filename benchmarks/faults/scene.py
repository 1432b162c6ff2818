"""Fills an empty platform with what the players need: people, models with prices, datasets, budgets. Prints it as JSON.

python -m benchmarks.faults.scene PROXY_URL WORDS TPS CAMPAIGNS
"""

import json
import os
import sys
from decimal import Decimal
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from accounts.models import User  # noqa: E402
from accounts.scopes import ALL  # noqa: E402
from accounts.tokens import create_token  # noqa: E402
from experiments.lab.budgets import budgeting  # noqa: E402
from experiments.models import Contestant, Dataset, ModelPrice, Output, Provider, ProviderModel, Sample  # noqa: E402

PERSONALITIES = ("cooperative", "competitive", "neutral", "practical")
CODERS = ("coder-oak", "coder-elm", "coder-fir")
PRICE = Decimal("0.000002")
ENOUGH = Decimal(1000)
CONTESTANTS, SAMPLES = 4, 3


def main(base: str, words: str, tps: str, campaigns: str) -> dict[str, Any]:
    admin = User.objects.create_user("harness", password="measuring things", role=User.Role.ADMIN)
    voter = User.objects.create_user("voter", password="measuring things", role=User.Role.ADMIN)
    pace = f"first=0.1:tps={tps}"
    speakers = [f"sim/{name}:words={words}:{pace}:cost" for name in PERSONALITIES]
    coders = [f"sim/{name}:first=0.1" for name in CODERS]
    judge, tool = "sim/judge:first=0.1", "sim/filter:first=0.1"
    provider = Provider.objects.create(
        name="spoiled", base_url=base, allow_private=True, is_simulated=True, concurrency=400
    )
    for name in (*speakers, *coders, judge, tool):
        defaults = {
            "is_tool": name in (judge, tool),
            "is_default_judge": name == judge,
            "is_default_filter": name == tool,
        }
        model = ProviderModel.objects.create(provider=provider, slug=name, upstream=name, label=name, **defaults)
        ModelPrice.objects.create(model=model, since=timezone.now(), input=PRICE, output=PRICE)
    budgeting.set_budget(admin, by=admin, cost=ENOUGH, tokens=10**9)
    return {
        "token": create_token(admin, name="faults", days=2, scopes=ALL),
        "voter": create_token(voter, name="faults", days=2, scopes=ALL),
        "speakers": speakers,
        "coders": coders,
        "judge": judge,
        "filter": tool,
        "datasets": [dataset(admin, number) for number in range(int(campaigns))],
    }


def dataset(owner: User, number: int) -> str:
    open_to_all = {"visibility": Dataset.Visibility.LAB, "takes_votes": True, "state": Dataset.State.READY}
    made = Dataset.objects.create(owner=owner, name=f"field {number}", slug=f"field-{number}", **open_to_all)
    samples = [Sample.objects.create(dataset=made, index=n, instruction=f"Describe tree {n}.") for n in range(SAMPLES)]
    for name in range(CONTESTANTS):
        one = Contestant.objects.create(dataset=made, name=f"contestant {name}")
        texts = (f"Tree {sample.index} by {name} is tall, and has {name + sample.index} leaves. " for sample in samples)
        Output.objects.bulk_create(
            Output(sample=sample, contestant=one, text=text * 3) for sample, text in zip(samples, texts, strict=True)
        )
    return made.slug


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
