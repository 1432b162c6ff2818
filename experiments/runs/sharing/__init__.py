"""Who sees an experiment: its visibility, its project, and links."""
