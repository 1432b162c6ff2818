"""What lower packages tell higher ones.

run_finished: sent after the commit that ended a run, with `run_id`. board_changed: after a commit that changed what a
board counts, with `board_id`. cycles_changed: after a commit that rated a cycle of coding, left one out or took one in
again. run_curated: after a commit that left a run out of ladders or took it in again, with `run_id`. swept: sent
every few seconds by the worker of files, datasets and ratings; receivers look for work whose job was lost.
engine_swept: likewise, by every worker that drives runs. board_packed: sent while a board is written as a folder, with
`board`; receivers return what it holds beside the battles, JSON by names of files. board_unpacked: sent after such a
folder was imported, with `board`, `by` and `content`, the JSON of its milestones; receivers return warnings.
"""

from django.dispatch import Signal

run_finished = Signal()
board_changed = Signal()
cycles_changed = Signal()
run_curated = Signal()
swept = Signal()
engine_swept = Signal()
board_packed = Signal()
board_unpacked = Signal()
