"""A small study of a script: a model that writes little beside one that writes much; both refuse now and then."""

from typing import Any

from experiments.models import Study
from experiments.studies import services
from tests.fixtures import add_model

SCRIPT = [{"text": "Please answer {name} again."}, {"text": "Why?", "when": "refused"}]


def design(**changed: Any) -> dict[str, Any]:
    """2 models x 2 contexts x 2 prompts, 2 repeats: 16 runs."""
    models = {name: add_model(f"sim/refusing:first=0:words={words}").slug for name, words in WORDS.items()}
    return {
        "workflow": "starchamber",
        "config": {"judge": False, "logprobs": False, "first_message": "", "script": SCRIPT},
        "factors": [
            {
                "name": "model",
                "levels": [{"name": n, "cast": {"model": {"model": slug}}} for n, slug in models.items()],
            },
            {"name": "context", "levels": [{"name": n, "config": {"context": c}} for n, c in CONTEXTS.items()]},
            {"name": "prompt", "is_prompt": True, "levels": [_prompt(name) for name in ("Ines", "Otto")]},
        ],
        "repeats": 2,
        "seed": 3,
        **changed,
    }


def small(**changed: Any) -> dict[str, Any]:
    """2 models x 2 prompts, once: 4 runs."""
    whole = design(repeats=1)
    factors = [one for one in whole["factors"] if one["name"] != "context"]
    return {**whole, "factors": factors, **changed}


def small_plan(**changed: Any) -> dict[str, Any]:
    return plan(explored=[], **changed)


WORDS = {"long": 120, "short": 10}
CONTEXTS = {"none": "", "brief": "Be brief, {name}."}


def _prompt(name: str) -> dict[str, Any]:
    return {"name": name, "config": {"first_message": "How would {name} end it?"}, "texts": {"name": name}}


REFUSED = {"of": "flag", "flag": "refusal", "seat": "model"}


def plan(**changed: Any) -> dict[str, Any]:
    models = {"first": {"model": "long"}, "second": {"model": "short"}}
    contexts = {"first": {"context": "brief"}, "second": {"context": "none"}}
    return {
        "hypothesis": "One model writes more, and refuses as often.",
        "outcomes": [
            {"name": "refused", "kind": "rate", "source": REFUSED | {"over": "any"}},
            {"name": "sooner", "kind": "time", "source": REFUSED | {"over": "first_turn"}, "until": 3},
            {"name": "tokens", "kind": "score", "source": {"of": "run", "figure": "output_tokens"}},
        ],
        "contrasts": [
            {"name": "tokens of models", "outcome": "tokens", **models},
            {"name": "refusals of models", "outcome": "refused", **models},
        ],
        "explored": [{"name": "refusals of contexts", "outcome": "refused", "test": "mixed", **contexts}],
        **changed,
    }


SOONER = {"name": "models in time", "outcome": "sooner", "first": {"model": "long"}, "second": {"model": "short"}}
SAID = {"name": "answers", "kind": "diversity", "source": {"of": "answers", "seat": "model"}}
SURE = {"name": "sure", "kind": "confidence", "source": {"of": "confidence", "seat": "model"}}


def sure() -> dict[str, Any]:
    """The small one four times, with log-probabilities: 16 runs."""
    made = small(repeats=4)
    return {**made, "config": {**made["config"], "logprobs": True}}


def sure_plan() -> dict[str, Any]:
    models = {"first": {"model": "long"}, "second": {"model": "short"}}
    contrasts = [{"name": f"{one} of models", "outcome": one, **models} for one in ("answers", "sure")]
    return small_plan(outcomes=[SAID, SURE], contrasts=contrasts)


def begun(owner: Any, design: dict[str, Any], asked: dict[str, Any], **fields: Any) -> Study:
    """A study of theirs that plays. asked: its plan, which is locked."""
    made = services.create(owner=owner, design=design, plan=asked, **{"title": "Refusals", **fields})
    services.lock(made, by=owner)
    services.start(made, by=owner)
    return made
