"""What the runs of an experiment say together: estimates with their intervals. Only `rows` knows the database."""
