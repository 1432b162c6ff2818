"""Provider keys: people's own, and the lab's."""
