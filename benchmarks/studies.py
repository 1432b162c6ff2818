"""Two studies of 2,000 runs each: how long their pages take, how long the analysis, and how much memory it needs.

BENCH_DATABASE_URL=postgres://… measures another database than SQLite; it has to be empty. `--kills` plays a study of
2,000 runs while workers are killed instead: see `benchmarks.study_kills`.
"""

import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from itertools import accumulate
from typing import Any

import django
from django.core.management import call_command

from benchmarks.parts import PYTHON, ROOT

MODELS, CONTEXTS, PROMPTS, REPEATS, TURNS = 5, 2, 10, 20, 3  # 2,000 runs
WORDS, VOCABULARY, ALTERNATIVES = 150, 3_000, 3
TIMES = 24  # requests of a page
AT_ONCE = 500
REFUSED = {"of": "flag", "flag": "refusal", "seat": "model"}
OUTCOMES: list[dict[str, Any]] = [
    {"name": "refused", "kind": "rate", "source": REFUSED},
    {"name": "first refusal", "kind": "time", "source": {**REFUSED, "over": "first_turn"}, "until": TURNS},
    {
        "name": "deviation",
        "kind": "score",
        "source": {"of": "judgment", "score": "goal_deviation", "seat": "model"},
        "least": 0,
        "most": 100,
    },
    {"name": "tokens", "kind": "score", "source": {"of": "run", "figure": "output_tokens"}},
    {"name": "answers", "kind": "diversity", "source": {"of": "answers", "seat": "model"}},
    {"name": "sure", "kind": "confidence", "source": {"of": "confidence", "seat": "model"}},
]
CONTRASTS = [(one["name"], "runs", "usual") for one in OUTCOMES] + [
    ("refused", "runs", "mixed"),
    ("deviation", "prompts", "usual"),
]
PAGES = {
    "study": "/studies/{0}/",
    "the part that changes": "/studies/{0}/",
    "runs": "/studies/{0}/runs/?page=20",
    "runs of a side": "/studies/{0}/runs/?contrast=refused%20runs%20usual&side=first",
    "plan": "/studies/{0}/plan/",
    "how many runs, of a draft": "/studies/{2}/sizes/?rate=50&difference=20",
    "list": "/studies/",
    "comparison of two": "/studies/compare/?study={0}&study={1}&outcome=refused",
    "comparison by a score": "/studies/compare/?study={0}&study={1}&outcome=deviation",
    "comparison by answers": "/studies/compare/?study={0}&study={1}&outcome=answers",
    "chart of runs": "/runs/chart/?measure=run:output_tokens",
    "API: list": "/api/studies/",
    "API: study": "/api/studies/{0}/",
    "API: runs": "/api/studies/{0}/runs/",
    "API: looks": "/api/studies/{0}/looks/",
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        database = os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3")
        environment = {**os.environ, "ARENA_DATA": folder, "DATABASE_URL": database, "ARENA_LOG_LEVEL": "CRITICAL"}
        environment |= {"DJANGO_SETTINGS_MODULE": "arenasite.settings", "REDIS_URL": f"unix://{folder}/nobody.sock"}
        for verb in ("fill", "analyze", "analyze", "take", "measure"):
            subprocess.run([PYTHON, "-m", "benchmarks.studies", verb], cwd=ROOT, env=environment, check=True)


def fill() -> None:
    """Two studies that have ended, and a draft."""
    from accounts.models import User  # noqa: PLC0415 - after the set-up
    from experiments.models import Provider, ProviderModel  # noqa: PLC0415
    from experiments.studies import services  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    began = time.perf_counter()
    owner = User.objects.create_user("bench", password=None, role="researcher")
    provider = Provider.objects.create(name="bench", base_url="http://nowhere.invalid/v1", is_simulated=True)
    names = [f"lab/model-{n}" for n in range(MODELS)]
    models = [ProviderModel.objects.create(provider=provider, slug=n, upstream=n, label=n) for n in names]
    vocabulary = [f"w{n}" for n in range(VOCABULARY)]
    weights = list(accumulate(1 / (n + 1) for n in range(VOCABULARY)))
    for number in range(3):
        study = services.create(owner=owner, title=f"Study {number}", design=_design(names), plan=_plan(), cost_limit=0)
        if number < 2:
            services.lock(study, by=owner)
            _play(study, models, random.Random(number), vocabulary, weights)
    print(f"two studies of {MODELS * CONTEXTS * PROMPTS * REPEATS:,} runs made in {time.perf_counter() - began:.0f} s")


def _design(models: list[str]) -> dict[str, Any]:
    return {
        "workflow": "starchamber",
        "config": {"judge": False, "first_message": "{name}?", "script": [{"text": "Why?"}, {"text": "And then?"}]},
        "factors": [
            {"name": "model", "varies": "cast.model.model", "levels": [{"name": m, "value": m} for m in models]},
            {
                "name": "context",
                "varies": "config.context",
                "levels": [{"name": f"c{n}", "value": f"Context {n}."} for n in range(CONTEXTS)],
            },
            {
                "name": "prompt",
                "is_prompt": True,
                "levels": [{"name": f"p{n}", "texts": {"name": f"Question {n}"}} for n in range(PROMPTS)],
            },
        ],
        "repeats": REPEATS,
        "seed": 1,
    }


def _plan() -> dict[str, Any]:
    sides = {"first": {"model": "lab/model-1"}, "second": {"model": "lab/model-0"}}
    return {
        "outcomes": OUTCOMES,
        "contrasts": [
            {"name": f"{outcome} {scope} {test}", "outcome": outcome, "scope": scope, "test": test, **sides}
            for outcome, scope, test in CONTRASTS
        ],
        "looks": [0.5, 1],
    }


def _play(study: Any, models: list[Any], lots: random.Random, vocabulary: list[str], weights: list[float]) -> None:
    """The rows of all its runs, as they are after their end; one in fifty has failed. Nothing may be spent, so that
    none is queued when the study begins.
    """
    from experiments.models import Call, Judgment, Message, Run, Step, StudyRun  # noqa: PLC0415
    from experiments.studies import services  # noqa: PLC0415

    services.start(study, by=study.owner)
    by_slug = {model.slug: model for model in models}
    planned = list(study.planned_runs.select_related("condition__experiment").order_by("number"))
    for first in range(0, len(planned), AT_ONCE):
        rows: dict[Any, list[Any]] = {model: [] for model in (Run, Step, Call, Message, Judgment)}
        for one in planned[first : first + AT_ONCE]:
            condition = one.condition
            began = study.created + timedelta(seconds=one.number)
            run = Run(
                experiment=condition.experiment, seed=one.seed, started=began, ended=began + timedelta(seconds=60)
            )
            run.state = Run.State.FAILED if one.number % 50 == 0 else Run.State.COMPLETED
            run.stop_reason = "overloaded" if one.number % 50 == 0 else "max_turns"
            rows[Run].append(run)
            one.run = run
            model = by_slug[condition.levels["model"]]
            for turn in range(1, TURNS + 1):
                _turn(rows, run, turn, model, lots, lots.choices(vocabulary, cum_weights=weights, k=WORDS))
        for model, made in rows.items():
            model.objects.bulk_create(made, batch_size=AT_ONCE)
    StudyRun.objects.bulk_update(planned, ["run"], batch_size=AT_ONCE)
    study.state, study.note, study.cost_limit = "completed", "", None
    study.ended = study.created + timedelta(hours=1)
    study.save()


def _turn(rows: Any, run: Any, turn: int, model: Any, lots: random.Random, words: list[str]) -> None:
    from experiments.models import Call, Judgment, Message, Step  # noqa: PLC0415

    step = Step(run=run, key=f"turn/{turn}/reply", kind="ask", purpose="reply", seat="model", turn=turn, state="done")
    sure = [-lots.expovariate(3) for _word in words]
    tokens = [
        {
            "token": word,
            "logprob": own,
            "alternatives": [
                {"token": word, "logprob": own},
                *({"token": f"{word}{n}", "logprob": own - 1 - n} for n in range(1, ALTERNATIVES)),
            ],
        }
        for word, own in zip(words, sure, strict=True)
    ]
    call = Call(run=run, step=step, attempt=1, state="completed", model=model, request={}, logprobs=tokens)
    call.output_tokens, call.input_tokens, call.cost, call.seconds = WORDS + lots.randrange(50), 300, 0.001, 2.0
    flags = {"refusal": {"by": "rule"}} if lots.random() < (0.3 if model.slug.endswith("1") else 0.1) else {}
    said = {"text": " ".join(words), "raw_text": " ".join(words), "flags": flags}
    score = {"goal_deviation": min(100, max(0, round(lots.gauss(50, 20))))}
    rows[Step].append(step)
    rows[Call].append(call)
    rows[Message].append(Message(run=run, step=step, call=call, seq=turn, turn=turn, seat="model", **said))
    rows[Judgment].append(Judgment(run=run, step=step, turn=turn, subject="model", judge="judge", scores=score))


def analyze() -> None:
    """Of the study that has no look yet; in a process of its own, for its memory."""
    from experiments.models import Study  # noqa: PLC0415 - after the set-up
    from experiments.studies import results  # noqa: PLC0415

    study = Study.objects.filter(state="completed", looks=None).order_by("created")[0]
    before, began, used = _peak(), time.perf_counter(), time.process_time()
    found = results.look(study, by=study.owner)
    took = f"{time.perf_counter() - began:.1f} s, {time.process_time() - used:.1f} of a core"
    print(f"analysis of 2,000 runs by {len(CONTRASTS)} contrasts   {took}")
    print(f"    memory {before:.0f} MiB before, {_peak():.0f} MiB at most")
    assert sum(one["is_found"] for one in found.results["results"]) >= 1


def take() -> None:
    """The folder that recomputes, and how long its own program takes."""
    import io  # noqa: PLC0415 - of this measurement alone
    import zipfile  # noqa: PLC0415

    from experiments.models import StudyLook  # noqa: PLC0415 - after the set-up
    from experiments.studies.folder import folder  # noqa: PLC0415

    before, began = _peak(), time.perf_counter()
    content = b"".join(folder(StudyLook.objects.all()[0]))
    said = f"folder of a study, {len(content) / 2**20:.1f} MiB   {time.perf_counter() - began:.1f} s"
    print(f"{said}; memory {before:.0f} MiB before, {_peak():.0f} MiB at most")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
        zipfile.ZipFile(io.BytesIO(content)).extractall(place)
        began = time.perf_counter()
        subprocess.run([PYTHON, "recompute.py"], cwd=f"{place}/study", check=True, stdout=subprocess.DEVNULL)
        print(f"python recompute.py, every number the same   {time.perf_counter() - began:.1f} s")


def measure() -> None:
    from django.db import connection  # noqa: PLC0415 - after the set-up
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from experiments.models import Study  # noqa: PLC0415

    browser = Client(headers={"host": "localhost"})
    browser.force_login(User.objects.get(username="bench"))
    studies = [str(key) for key in Study.objects.order_by("created").values_list("pk", flat=True)]
    of_all = []
    for name, path in PAGES.items():
        address = path.format(*studies)
        headers = {"HX-Request": "true"} if name == "the part that changes" else {}
        with CaptureQueriesContext(connection) as asked:
            answer = browser.get(address, headers=headers)  # the first time, nothing is at hand
        assert answer.status_code == 200, (answer.status_code, address)
        queries, size, spent = len(asked), len(answer.content), []
        for _time in range(TIMES):
            began, used = time.perf_counter(), time.process_time()
            browser.get(address, headers=headers)
            spent.append(((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000))
        of_all += spent
        print(f"{name}   {_said(spent)}   {queries} queries, {size / 1024:.0f} KiB", flush=True)
    print(f"all {len(PAGES)} addresses, {TIMES} requests each   {_said(of_all)}; {_peak():.0f} MiB at most")
    print(f"load of the machine meanwhile: {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")


def _said(spent: list[tuple[float, float]]) -> str:
    """Milliseconds of requests, and those of a core: on a machine that does other things, too, these tell more."""
    times, used = (sorted(values) for values in zip(*spent, strict=True))
    place = math.ceil(0.95 * len(times)) - 1
    return f"median {statistics.median(times):.0f} ms   p95 {times[place]:.0f} ms, {used[place]:.0f} of a core"


def _peak() -> float:
    """The most resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--kills"]:
        from benchmarks import study_kills

        sys.exit(study_kills.main(sys.argv[2:]))
    if verbs := sys.argv[1:]:
        django.setup()
        {"fill": fill, "analyze": analyze, "take": take, "measure": measure}[verbs[0]]()
    else:
        main()
