"""A file tells of its run and of no other that its reader may not see, nor of a form and what was typed into it."""

import json
import threading

import pytest

from accounts.models import Project
from experiments.library.bulk import making as bulk
from experiments.library.bulk.formats import FORMATS as BULK_FORMATS
from experiments.models import Cycle, Experiment, Run
from experiments.runs.reports.formats import FORMATS, LINKED, unheard
from experiments.workflows.coding.services import remember_earlier
from experiments.workflows.judging.surface import rejudged
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reports.records import SCORES, Record
from tests.experiments.sharing.published import approved, everybodys
from tests.fixtures import signed_in


def file_for(record, reader, name):
    run = record.fetched()
    run.reader = reader
    format_ = LINKED if name == LINKED.name else FORMATS[name]
    return b"".join(format_.chunks(run, "en", unheard)).decode()


def test_what_was_made_from_a_run_is_named_to_who_may_see_it(alice, charlie, settings, tmp_path):
    settings.BULK_EXPORTS_DIR, parent = tmp_path, Record(alice)
    said = parent.reply("B", 2, "Hello.")
    child = Record(alice, parent=parent.run, branched_from=said, origin="branch", title="Alice's own attempt")
    Experiment.objects.filter(pk=parent.run.experiment_id).update(visibility="lab")

    def assert_named_to(*readers, formats=("html", "md", "json", "jsonl", "inspect")):
        for name in formats:
            told = [one for one in (alice, charlie, None) if str(child.run.pk) in file_for(parent, one, name)]
            assert told == list(readers), name

    assert_named_to(alice)
    for person, sees in ((alice, True), (charlie, False)):
        row = bulk.ask({"runs": [str(parent.run.pk)]}, by=person, format_=BULK_FORMATS["jsonl"], language="en")
        bulk.make_all(threading.Event())
        assert (str(child.run.pk) in row.path.read_text()) is sees, "in a file for many runs"

    Experiment.objects.filter(pk=child.run.experiment_id).update(visibility="public")
    assert_named_to(alice, charlie)  # nobody has approved it
    assert_named_to(formats=[LINKED.name])  # a link's report shows what visitors see
    approved(child.run)
    assert_named_to(alice, charlie, None)


def test_first_scores_stand_beside_second_ones_for_who_may_see_the_first(alice, charlie, client):
    """Alice's private run, and its transcript judged again in a run that everybody sees."""
    record, turns = Record(alice), [{"turn": 1, "messages": {"A": "Hello."}, "deeds": []}]
    record.reply("A", 1, "Hello.")
    record.judged(1, {"A": {**SCORES, "cooperation": 0.123}})
    first, subjects = record.run, {"subjects": ["A"], "turns": turns, "workflow": "arena", "objectives": {}}
    again = Record(alice, "judging", {"source": str(first.pk), **subjects}, parent=first).run
    everybodys(again.experiment)

    assert rejudged(again, alice).source == first
    assert rejudged(again, charlie) is None
    assert str(first.pk) not in client.get(again.get_absolute_url()).content.decode()
    assert str(first.pk) in signed_in(alice).get(again.get_absolute_url()).content.decode()


@pytest.fixture
def contests(alice):
    """A contest of Alice's that nobody else sees, and one that is asked for now."""
    earlier, now = contest_rows.contest(alice, 1).run, contest_rows.Contest(alice).run
    Cycle.objects.filter(run=earlier).update(fingerprint=[1] * 32)
    return Project.objects.create(name="Solar lab"), earlier, now


def known(run):
    """The titles of earlier problems that a run is told of; "" for one that it is compared with and not told."""
    remember_earlier(run)
    problems = run.steps.get(purpose="problems_known").data["outcome"]["found"]["problems"]
    assert all(one["fingerprint"] for one in problems)
    return [one["title"] for one in problems]


@each_case(
    ("of_earlier", "of_now", "is_named"),
    [
        ("private", "private", True),
        ("private", "project", False),
        ("project", "project", True),
        ("project", "other project", False),
        ("project", "lab", False),
        ("lab", "project", True),
        ("lab", "lab", True),
        ("lab", "public", False),
    ],
)
def test_an_earlier_problem_is_named_where_all_who_read_that_may_see_it(contests, of_earlier, of_now, is_named):
    project, earlier, now = contests
    other = Project.objects.create(name="Wind lab")
    for run, visibility in ((earlier, of_earlier), (now, of_now)):
        seen = {"visibility": visibility.removeprefix("other "), "project": other if "other" in visibility else project}
        Experiment.objects.filter(pk=run.experiment_id).update(**seen)
        run.experiment.refresh_from_db()
    title = earlier.cycles.get().title

    assert known(now) == [title if is_named else ""], "it is compared with all of them"


def test_what_a_contest_was_told_is_in_its_owners_files_alone(contests, alice, charlie):
    """It may have been shared only later."""
    _project, earlier, now = contests
    title = earlier.cycles.get().title
    assert known(now) == [title]

    def told(reader):
        run = Run.objects.with_totals().get(pk=now.pk)
        run.reader = reader
        steps = json.loads(b"".join(FORMATS["json"].chunks(run, "en", unheard)))["steps"]
        [step] = [step for step in steps if step["purpose"] == "problems_known"]
        return title in json.dumps(step)

    assert [told(reader) for reader in (alice, charlie, None)] == [True, False, False]
