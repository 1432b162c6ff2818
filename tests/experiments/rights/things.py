"""One of each thing that an address can name, all Alice's and her project's; and the addresses that name them."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from accounts import invitations
from accounts.models import ApiToken, Membership, User
from accounts.tokens import create_token
from experiments import models
from experiments.lab.budgets import budgeting
from experiments.lab.keys import keyring
from experiments.lab.webhooks import hooks
from experiments.library import presets, scenarios
from experiments.library.annotations import favorites, notes, saved_views
from experiments.library.bulk import making as bulk
from experiments.library.bulk.formats import FORMATS as BULK_FORMATS
from experiments.library.datasets import demonstration
from experiments.library.instruments import cases
from experiments.library.instruments import services as instruments
from experiments.runs import actions
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import REPORTS
from experiments.runs.sharing import sharing
from experiments.studies import services
from experiments.workflows.battles.campaign.boards import model_board
from leaderboard.boards.compute import ensure_ladder
from leaderboard.votes import voting
from leaderboard.votes.voters import person_voter
from tests.experiments import contest_rows
from tests.experiments.api.handlers import routes
from tests.experiments.reports import deliberations
from tests.experiments.reviews import reviewed
from tests.experiments.rights.people import Lab
from tests.experiments.studies import designs
from tests.fixtures import add_model

NOTHING = "0" * 64
BY_COUNCIL = ["run-ranking", "api-ranking", "run-ask", "api-run-ask"]
BY_CONTEST = ["coding-cycle", "coding-ratings", "run-artifacts", "api-run-artifacts", "api-cycle", "api-cycles"]
BY_CONTEST += ["api-executions"]
BY_TALK = ["talk-figures", "message-tokens"]
BY_CAMPAIGN = ["campaign-live", "campaign-stop", "campaign-resume"]
BY_CAMPAIGN += ["api-campaign", "api-campaign-stop", "api-campaign-resume"]
FORMATS = {"run-export": "jsonl", "ladder-download": "csv", "ladder-picture": "svg", "board-export": "slim"}
BY_ID = """
    exports:bulk imported:brought files:file links:link seats:seat scenarios:scenario instruments:instrument cases:case
    changes:scenario presets:preset new:upload uploads:upload samples:sample contestants:left battles:battle
    compare:talk review:queue queues:queue items:item notes:note views:view favorites:favorite keys:key
    webhooks:webhook deliveries:delivery budgets:budget projects:project members:guest invitations:invitation
    conversations:asked studies:study
"""  # parts of addresses, and the thing whose id comes next


def addresses() -> Iterator[tuple[str, str]]:
    """(name, route) of every address but the admin's, which has rights of its own."""
    for route, one in routes():
        if not route.startswith(("admin/", "^admin")) and "drf_format_suffix" not in route:
            yield one.name or route, route


class Things:
    """arena is a run that was played; the others are written row by row. All but a dataset belong to the project."""

    def __init__(self, lab: Lab, arena: models.Run, talk: models.Run, pictures: Path) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self.owner: User = lab.people["owner"]
        self.arena, self.talk = arena, talk
        self.council = deliberations.council(self.owner).run
        self.contest = contest_rows.contest(self.owner, 1).run
        self.asked = models.ClientTalk.objects.create(owner=self.owner, system="council", run=self.council)
        self._make_a_ladder()
        models.Experiment.objects.filter(owner=self.owner).update(project=lab.project, visibility="project")
        self.bulk = bulk.ask({}, by=self.owner, format_=BULK_FORMATS["csv"], language="en")
        self.brought = models.RunImport.objects.create(
            owner=self.owner, name="a.json", size=1, sha256=NOTHING, state="ready"
        )
        self.file = jobs.request_file(arena, by=self.owner, format_=REPORTS["html"], language="en")
        self.seat = models.SeatedPerson.objects.create(experiment=arena.experiment, seat="C", person=self.owner)
        self.link, self.secret = sharing.create_link(arena.experiment, by=self.owner)
        create_token(self.owner, name="mine")
        self.token = ApiToken.objects.get(user=self.owner)
        self.scenario = scenarios.save_scenario(
            owner=self.owner, title="Mine", description="", kind="mixed", config={**arena.experiment.config}
        )
        asked = {"dimensions": [{"kind": "yes_no", "name": "refuses", "title": "Refuses"}]}
        version = instruments.save(owner=self.owner, title="Mine", definition=asked)
        self.instrument = version.instrument
        unit = {"unit": "message", "place": 1, "subject": ""}
        self.case = cases.keep(self.instrument, arena, by=self.owner, **unit, expected={"refuses": "no"})
        said = {"version": version, "unit": "run", "dimension": version.parsed.dimensions[0].name, "judge": "opus"}
        models.Annotation.objects.create(run=self.arena, made_in=self.arena, **said)
        self.preset = presets.save_preset(owner=self.owner, name="Mine", context="Be brief.")
        council = {"cast": {f"member-{n}": {"model": "sim/judge:first=0"} for n in (1, 2)}, "config": {}}
        self.seats = presets.save_setup(owner=self.owner, workflow="council", name="Mine", content=council)
        self.study = services.create(
            owner=self.owner, title="Mine", design=designs.design(), plan=designs.plan(), project=str(lab.project.pk)
        )
        self._make_what_surrounds_it(lab)
        self.upload = models.Upload.objects.create(
            owner=self.owner, kind=models.Upload.Kind.SAMPLES, name="a.csv", size=1, dataset=self.dataset
        )

    def _make_what_surrounds_it(self, lab: Lab) -> None:
        self.project, self.people = lab.project, lab.people
        self.guest = User.objects.create_user("the-guest")
        Membership.objects.create(project=lab.project, user=self.guest, role=Membership.Role.WATCHER)
        self.key = keyring.add(by=self.owner, provider=models.Provider.objects.first(), key="sk-nobody-reads-this-key")
        self.budget = budgeting.set_budget(self.arena.experiment, by=self.owner, tokens=10**9)
        self.webhook, _ = hooks.add(by=self.owner, url="https://example.org/", events=["run.completed"])
        self.delivery = hooks.test(self.webhook, by=self.owner)
        self.invitation, self.invited = invitations.invite(
            by=lab.people["lead"], role="researcher", project=lab.project
        )
        self.queue = reviewed.queue(self.owner, lab.people["reviewer"])
        self.item = self.queue.items.first()
        self.note = notes.write(self.arena, "Read this again.", by=self.owner)
        self.view = saved_views.save(by=self.owner, name="Mine", query="state=failed")
        self.favorite = favorites.mark("contestant", "oak", by=self.owner)

    def _make_a_ladder(self) -> None:
        self.dataset: models.Dataset = demonstration.make_text(self.owner)
        models.Dataset.objects.filter(pk=self.dataset.pk).update(visibility="private")
        judge = add_model("sim/judge:first=0")
        asked = {"config": {"dataset": self.dataset.slug, "prompt": "text_quality"}}
        self.campaign = actions.create(
            owner=self.owner, workflow="battles", **asked, cast={"judge": {"model": judge.slug}}
        )
        actions.start(self.campaign, by=self.owner)
        board = model_board(self.dataset, judge, prompt="text_quality", prompt_version="1", params={})
        self.sample = self.dataset.samples.first()
        self.left, self.right = self.dataset.contestants.order_by("pk")[:2]
        pair = {"sample": self.sample, "left": self.left, "right": self.right}
        self.battle = models.Battle.objects.create(board=board, winner="left", experiment=self.campaign, **pair)
        self.ladder = ensure_ladder(board)
        self.offer = voting.shown_pair(voting.offer(self.dataset, voter=person_voter(self.owner)))

    def address(self, name: str, route: str) -> str:
        """The route with Alice's things in the places of its words."""
        if (name, route) not in self._known:
            self._known[name, route] = self._address(name, route)
        return self._known[name, route]

    def _address(self, name: str, route: str) -> str:
        parts = re.sub(r"\(\?P<\w+>[^)]*\)", "x", route).strip("^$").replace("^", "").split("/")
        filled = [self._filled(name, part, parts[place - 1] if place else "") for place, part in enumerate(parts)]
        return "/" + "/".join(filled)

    def _filled(self, name: str, part: str, before: str) -> str:
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(self._word(name, found[1], before)), part)

    @cache  # noqa: B019 - there is one of them in a test
    def _by_place(self, run: models.Run) -> dict[str, Any]:
        return {
            **{part: getattr(self, thing).pk for part, thing in (pair.split(":") for pair in BY_ID.split())},
            "runs": run.pk,
            **dict.fromkeys(("experiments", "scans"), self.arena.experiment_id),
            "messages": run.messages.exclude(call=None).first().pk,
            "calls": run.calls.first().pk,
            "help": "quickstart",
            "cycles": self.contest.cycles.first().pk,
            "s": self.secret,
            "tokens": self.token.token_key,
            "datasets": self.dataset.slug,
            **dict.fromkeys(("leaderboard", "ladders", "boards", "subsets"), self.ladder.slug),
            "images": NOTHING,
            **dict.fromkeys(("imports", "import"), UUID(int=0)),
            **dict.fromkeys(("ranking", "sign-ins"), 1),
            "rubrics": self.queue.rubric_id,
            "providers": self.key.provider_id,
            "models": self.key.provider.models.first().pk,
            "people": self.people["stranger"].pk,
            "oidc": "nowhere",
            "public-arena": "01a20893-3c44-7317-9091-f9006bd0d7d4",
        }

    def _word(self, name: str, word: str, before: str) -> Any:
        by_word = {
            "token": {"invitations": self.invited, "join": self.seat.link.split("/")[-2]}.get(before, self.offer.token),
            "exp_name": "__all__",
            "sample_index": self.sample.pk,
            "model": self.left.name,
            "battle_id": f"{self.left.name}_vs_{self.right.name}:{self.sample.pk}",
            "side": "first",
            "verb": "lock",
            "workflow": "starchamber",
            **dict.fromkeys(("number", "before", "after"), 1),
            "format": FORMATS.get(name, "html"),
            "turn": 1,
        }
        if before == "vote" and word == "slug":
            return self.dataset.slug
        if name in BY_CAMPAIGN and before == "experiments":
            return self.campaign.pk
        if before == "presets" and "council" in name:
            return self.seats.pk
        if before == "keys" and name.startswith("mfa_"):
            return 1
        return by_word[word] if word in by_word else self._by_place(self._run(name))[before]

    def _run(self, name: str) -> models.Run:
        if name in BY_COUNCIL:
            return self.council
        if name in BY_CONTEST:
            return self.contest
        return self.talk if name in BY_TALK else self.arena
