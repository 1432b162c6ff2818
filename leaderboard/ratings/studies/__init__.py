"""The statistics of designed studies, in numpy alone. The unit is the run; runs of one prompt are a cluster.

`rates`: outcomes that happened or did not. `scores`: numbers on a bounded scale. `survival`: the turn in which
something happened, where it may not have happened yet. `diversity`: how far answers differ among themselves.
`corrections`: several tests, several looks. `planning`: how many runs.
"""
