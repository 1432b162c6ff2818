"""A PostgreSQL database with 100,000 runs, a million messages and a million calls of forty people in it.

ARENA_DATA=/tmp/shelved DATABASE_URL=postgres://… .venv/bin/python -m benchmarks.shelved
"""

import json
import os
import random
import sys
import time
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import django
from django.core.management import call_command
from django.db import connection

EXPERIMENTS, RUNS_OF_EACH, TURNS = 50_000, 2, 5  # with two messages in each turn
AT_ONCE = 2_000
PEOPLE, PROJECTS, MODELS = 40, 10, 20
DAYS = 180
WORKFLOWS = ("arena",) * 6 + ("starchamber", "council", "council", "debate")
SEATS = {"arena": "AB", "starchamber": ("researcher", "model"), "council": ("member-1", "member-2"), "debate": "AB"}
VISIBILITIES = ("private",) * 10 + ("project",) * 6 + ("lab",) * 3 + ("public",)
STATES = ("completed",) * 90 + ("stopped",) * 6 + ("failed",) * 4
FLAGS = ("refusal", "truncated", "repeats_itself")
VOCABULARY, SENTENCES = 20_000, 30_000
CHINESE = "议会讨论电力分配方案并且决定村庄如何共享太阳能板夜间储能价格公平合作竞争"
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "ne", "po", "ra", "si", "to", "vu", "wa", "ze", "jo")
NUMBERED = ("participant", "step", "passage")
Rows = dict[str, list[tuple[Any, ...]]]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    began = time.monotonic()
    fill()
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)


def fill(experiments: int = EXPERIMENTS, seed: int = 1) -> None:
    lots = random.Random(seed)
    owners, projects, models = _people(lots)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # the rows fit together: no need to look each one up
        cursor.execute("DROP INDEX passage_words")
        tables = _Tables(lots, owners, projects, models)
        for first in range(0, experiments, AT_ONCE):
            for name, rows in tables.some(min(AT_ONCE, experiments - first)).items():
                _copy(cursor, name, rows)
        for name in NUMBERED:
            table = f"experiments_{name}"
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        cursor.execute("CREATE INDEX passage_words ON experiments_passage USING gin (words)")
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")


def _people(lots: random.Random) -> tuple[list[Any], list[Any], list[Any]]:
    """The first is an administrator, the last has nothing of their own; each belongs to two of the projects."""
    from accounts.models import Membership, Project, User  # noqa: PLC0415 - models exist after the set-up alone
    from experiments.models import Provider, ProviderModel  # noqa: PLC0415

    people = [User(username=f"person-{n}", role="researcher", password="!") for n in range(PEOPLE)]
    people[0].role, people[0].is_staff, people[0].is_superuser = "admin", True, True
    people = User.objects.bulk_create(people)
    projects = Project.objects.bulk_create(Project(name=f"Project {n}") for n in range(PROJECTS))
    Membership.objects.bulk_create(
        Membership(project=project, user=person, role="member")
        for person in people[:-1]
        for project in lots.sample(projects, 2)
    )
    provider = Provider.objects.create(name="shelved", base_url="http://nowhere.invalid/v1")
    rows = [
        ProviderModel(provider=provider, slug=f"lab/model-{n}", upstream=f"m{n}", label=f"Model {n}")
        for n in range(MODELS)
    ]
    return people[:-1], projects, ProviderModel.objects.bulk_create(rows)


class _Tables:
    """Rows of all tables, made together. Words are as frequent as in a language: the n-th as 1/n."""

    def __init__(self, lots: random.Random, owners: list[Any], projects: list[Any], models: list[Any]) -> None:
        from experiments.library.search import backends, words  # noqa: PLC0415 - after the set-up

        self.lots, self.owners, self.projects, self.models, self.backends = lots, owners, projects, models, backends
        vocabulary = [
            "".join(lots.choices(SYLLABLES, k=2 + n % 3)) + (str(n) if n > 2_000 else "") for n in range(VOCABULARY)
        ]
        weights = list(accumulate(1 / (n + 1) for n in range(VOCABULARY)))
        spoken = [" ".join(lots.choices(vocabulary, cum_weights=weights, k=11)) + "." for _n in range(SENTENCES)]
        spoken += ["".join(lots.choices(CHINESE, k=24)) + "。" for _n in range(SENTENCES // 10)]
        self.sentences = [(text, tuple(word.folded for word in words.words(text))) for text in spoken]
        self.now = datetime.now(UTC)
        self.made = self.steps = self.participants = self.passages = 0
        self.total = EXPERIMENTS

    def some(self, experiments: int) -> Rows:
        rows: Rows = {name: [] for name in COLUMNS}
        for _n in range(experiments):
            self._experiment(rows)
        return rows

    def _said(self, count: int) -> tuple[str, tuple[str, ...]]:
        chosen = self.lots.choices(self.sentences, k=count)
        return " ".join(text for text, _words in chosen), tuple(word for _text, said in chosen for word in said)

    def _experiment(self, rows: Rows) -> None:
        lots = self.lots
        self.made += 1
        at = self.now - timedelta(days=DAYS) * (1 - self.made / self.total)
        owner = self.owners[min(int(lots.expovariate(0.12)), len(self.owners) - 1)]  # some do much, most do little
        workflow, visibility, project = lots.choice(WORKFLOWS), lots.choice(VISIBILITIES), lots.choice(self.projects)
        key = _key(at, lots)
        (title, of_title), (prompt, of_prompt) = self._said(1), self._said(4)
        config = json.dumps({"prompt": prompt, "max_turns": TURNS})
        place = project.pk if visibility == "project" or lots.random() < 0.3 else None
        rows["experiment"].append((key, owner.pk, place, visibility, workflow, title[:200], config, at))
        seated = [(seat, lots.choice(self.models)) for seat in SEATS[workflow]]
        for seat, model in seated:
            self.participants += 1
            rows["participant"].append((self.participants, key, seat, model.pk, "", "{}"))
        marks = (f"=workflow:{workflow}", f"=by:{owner.pk}")
        names = tuple(f"=model:{name}" for _seat, model in seated for name in (model.slug, model.upstream))
        self._passage(rows, ("setup", key, key, None, None, at), (*marks, "=kind:setup", *names), of_title + of_prompt)
        for number in range(1, RUNS_OF_EACH + 1):
            self._run(rows, key, seated, marks, at + number * timedelta(seconds=30))

    def _run(self, rows: Rows, experiment: Any, seated: Any, marks: Any, at: datetime) -> None:
        run, state, ended = _key(at, self.lots), self.lots.choice(STATES), at + timedelta(seconds=200)
        played = ("automatic", "{}", False, "live", "max_turns", "", at, at, ended, 0, 30, 1)
        rows["run"].append((run, experiment, self.lots.randrange(2**31), state, *played))
        for number in range(2 * TURNS):
            self._message(rows, (experiment, run), number, seated[number % 2], marks)
        for turn in range(1, TURNS + 1):
            self.steps += 1
            done = ("record", "turn_completed", "", turn, "done", "", "{}", at, ended)
            rows["step"].append((self.steps, run, f"turn/{turn}/completed", *done))

    def _message(self, rows: Rows, place: Any, number: int, seated: Any, marks: Any) -> None:
        lots, (experiment, run), (seat, model), turn = self.lots, place, seated, number // 2 + 1
        at = rows["run"][-1][10] + timedelta(seconds=number)
        self.steps += 1
        asked = ("ask", "reply", seat, turn, "done", "1", "{}", at, at)
        rows["step"].append((self.steps, run, f"turn/{turn}/{seat}", *asked))
        call, key = _key(at, lots), _key(at, lots)
        text, words = self._said(7)
        read, written = lots.randrange(100, 4_000), lots.randrange(50, 500)
        came_back = ("{}", "", "", "stop", "", "", "", "", "", "[]", "", "", read, written, False)
        paid = (f"{read * 1e-6:.10f}", "price", at, 0.4, 3.0)
        rows["call"].append((call, run, self.steps, 1, "completed", model.pk, *came_back, *paid))
        flags = [lots.choice(FLAGS)] if lots.random() < 0.01 else []
        said = (number + 2, turn, seat, model.label, text, text, "", json.dumps(flags), False, "stop", at)
        rows["message"].append((key, run, self.steps, call, *said))
        found_by = (f"=seat:{seat.lower()}", f"=model:{model.slug}", *(f"=flag:{flag}" for flag in flags))
        self._passage(rows, ("message", key, experiment, run, key, at), (*marks, *found_by), words)

    def _passage(self, rows: Rows, place: Any, marks: Any, words: Any) -> None:
        self.passages += 1
        rows["passage"].append(
            (self.passages, *place, self.backends.PostgreSQL().stored(self.backends.Content(("=all", *marks), words)))
        )


COLUMNS = {
    "experiment": "id owner_id project_id visibility workflow title config created",
    "participant": "id experiment_id seat model_id persona params",
    "run": """id experiment_id seed state mode overrides is_held origin stop_reason error created started ended
        waited_seconds last_seq fence""",
    "step": "id run_id key kind purpose seat turn state prompt_version data created ended",
    "call": """id run_id step_id attempt state model_id request text reasoning finish_reason native_finish_reason
        served_model served_provider generation_id system_fingerprint warnings error_kind error input_tokens
        output_tokens usage_is_estimated cost cost_source sent first_byte_seconds seconds""",
    "message": """id run_id step_id call_id seq turn seat model raw_text text reasoning flags superseded finish_reason
        created""",
    "passage": "id kind source experiment_id run_id message_id created words",
}


def _copy(cursor: Any, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    columns = ", ".join(f'"{name}"' for name in COLUMNS[table].split())
    with cursor.copy(f"COPY experiments_{table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _key(at: datetime, lots: random.Random) -> uuid.UUID:
    """A key that sorts by time, as those of the platform."""
    time_of_it = int(at.timestamp() * 1000) << 80
    return uuid.UUID(int=time_of_it | 7 << 76 | lots.getrandbits(12) << 64 | 2 << 62 | lots.getrandbits(62))


if __name__ == "__main__":
    main()
