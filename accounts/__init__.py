"""People, their rights and their projects, and the audit log of what they did. Knows nothing of experiments."""
