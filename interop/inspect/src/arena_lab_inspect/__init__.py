"""Arena Lab's workflows under Inspect: `tasks` (tasks and solvers), `ratings` (scorers and the metric), `command` (an
Inspect task played on the platform). `playing` plays a workflow's generator with Inspect's models.
"""
