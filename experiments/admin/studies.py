"""Studies in the admin: read, never changed there."""

from experiments.admin.base import ReadOnly, table
from experiments.models import Study, StudyCondition, StudyLook, StudyPlan, StudyRun

table(Study, "title owner project state note created started ended", filters="state", search="title", base=ReadOnly)
table(StudyPlan, "study number digest reason runs_seen by created", search="study__title =digest", base=ReadOnly)
table(StudyCondition, "study number levels experiment", search="study__title", base=ReadOnly)
table(StudyRun, "study number condition repeat seed run", search="study__title =run__id", base=ReadOnly)
table(
    StudyLook,
    "study number plan ended share by created",
    search="study__title",
    base=ReadOnly,
    heavy=("data", "results"),
)
