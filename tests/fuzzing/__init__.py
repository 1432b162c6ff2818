"""What strangers send, generated: the readers, what must hold of each, and two ways of looking for what breaks it."""
