"""People's own judgment: queues of what is to be reviewed, answers, agreement, flags, and which runs count."""
