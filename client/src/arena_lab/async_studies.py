"""Studies: designed sets of runs, for programs that await their answers. The same as in `studies`."""

from collections.abc import Mapping
from typing import Any

from arena_lab import asking
from arena_lab.files import File, file_of
from arena_lab.lines import AsyncLine
from arena_lab.paging import AsyncRows
from arena_lab.questions import ROWS, ExperimentLike, id_of
from arena_lab.records import (
    CampaignWinRate,
    PlannedRun,
    Study,
    StudyComparison,
    StudyLook,
    StudyLooks,
    StudyPlan,
    StudyRuns,
    StudySizes,
)


class AsyncStudies:
    """`create` one with its design and plan, `lock` the plan, `start` it, and `look` at what came of it."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(self) -> AsyncRows[Study]:
        return AsyncRows(self._line, asking.get_page("studies/", Study.read, page_size=ROWS))

    async def get(self, study: Study | str) -> Study:
        return await self._line.do(asking.get(f"studies/{id_of(study)}/", Study))

    async def create(
        self, title: str, design: Mapping[str, Any], plan: Mapping[str, Any] | None = None, **settings: Any
    ) -> Study:
        """settings: project, at_once, cost_limit. No model is called."""
        body = {"title": title, "design": dict(design), "plan": None if plan is None else dict(plan), **settings}
        return await self._line.do(asking.post("studies/", Study, body))

    async def sizes(self, study: Study | str, **asked: float) -> StudySizes:
        """What more or fewer repeats could see, with their costs, and how many repeats a difference needs. asked: rate
        and difference (0 to 1), sd of scores and diversities, spread of prompts in log-odds.
        """
        return await self._line.do(asking.get(f"studies/{id_of(study)}/sizes/", StudySizes, **asked))

    async def lock(self, study: Study | str) -> StudyPlan:
        return await self._line.do(asking.post(f"studies/{id_of(study)}/lock/", StudyPlan))

    async def amend(self, study: Study | str, plan: Mapping[str, Any], reason: str) -> StudyPlan:
        body = {"plan": dict(plan), "reason": reason}
        return await self._line.do(asking.post(f"studies/{id_of(study)}/amend/", StudyPlan, body))

    async def start(self, study: Study | str, *, idempotency_key: str | None = None) -> Study:
        return await self._line.do(asking.spend(f"studies/{id_of(study)}/start/", Study, {}, idempotency_key))

    async def pause(self, study: Study | str) -> Study:
        return await self._line.do(asking.post(f"studies/{id_of(study)}/pause/", Study, is_repeatable=True))

    async def resume(self, study: Study | str, *, idempotency_key: str | None = None) -> Study:
        return await self._line.do(asking.spend(f"studies/{id_of(study)}/resume/", Study, {}, idempotency_key))

    async def stop(self, study: Study | str) -> Study:
        return await self._line.do(asking.post(f"studies/{id_of(study)}/stop/", Study, is_repeatable=True))

    async def add_repeats(
        self, study: Study | str, repeats: int, reason: str = "", *, idempotency_key: str | None = None
    ) -> Study:
        """Plan further repeats of every condition, as an amendment, and go on. What looks have spent stays spent."""
        body = {"repeats": repeats, "reason": reason}
        return await self._line.do(asking.spend(f"studies/{id_of(study)}/repeats/", Study, body, idempotency_key))

    async def runs(self, study: Study | str) -> tuple[PlannedRun, ...]:
        """All planned runs in their order."""
        return (await self._line.do(asking.get(f"studies/{id_of(study)}/runs/", StudyRuns))).runs

    async def look(self, study: Study | str) -> StudyLook:
        """Analyze what has ended so far. Before all runs have ended this costs a part of alpha."""
        return await self._line.do(asking.post(f"studies/{id_of(study)}/look/", StudyLook))

    async def looks(self, study: Study | str) -> tuple[StudyLook, ...]:
        return (await self._line.do(asking.get(f"studies/{id_of(study)}/looks/", StudyLooks))).looks

    async def compare(self, *studies: Study | str, outcome: str = "") -> StudyComparison:
        """Two to six studies by an outcome that they share; without its name, by the first."""
        asked = {"study": [id_of(study) for study in studies], **({"outcome": outcome} if outcome else {})}
        return await self._line.do(asking.get("studies/compare/", StudyComparison, **asked))

    async def campaigns(self, *campaigns: ExperimentLike, contestant: str) -> tuple[CampaignWinRate, ...]:
        """How often a contestant wins in two to six campaigns of battles, each beside the first, prompt by prompt."""
        ids = [id_of(campaign) for campaign in campaigns]
        ask = asking.get_rows("studies/campaigns/", CampaignWinRate, campaign=ids, contestant=contestant)
        return await self._line.do(ask)

    async def folder(self, study: Study | str) -> File:
        """The latest look as a zip: data, plan, results, and `recompute.py`, which computes the same numbers."""
        answer = await self._line.do(asking.get_file(f"studies/{id_of(study)}/folder/"))
        return file_of(answer, "study.zip")
