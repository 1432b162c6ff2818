"""Loss of power: what is left of a disk that keeps only what somebody waited for.

All workflows are played for a while, and every operation on the disk is written down (`recorder.c`). Then the power is
cut at random places of that record: what a program waited for (fsync) is there, of all else any part is, in any order.
Of each such disk the database is opened, and has to hold all that the platform had acknowledged until then.
"""
