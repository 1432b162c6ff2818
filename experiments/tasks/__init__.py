"""Work in the background, and the clock that all machines share. What is to be done is always a row.

`waiting` claims rows and tries again, `job_queue` wakes a worker, `threads` does what takes minutes. Each job itself is
in the package that it belongs to.
"""
