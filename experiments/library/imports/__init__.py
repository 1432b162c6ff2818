"""Runs of elsewhere: a reader for each source makes documents of a file, which are stored as our own are."""
