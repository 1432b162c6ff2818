"""Everything that the platform keeps, in one file, and back again: on the same database, or on one of another kind."""
