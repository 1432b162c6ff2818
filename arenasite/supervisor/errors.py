"""Why the platform does not run; the message is a sentence for whoever started it."""


class CannotStart(Exception):
    """Something outside has to change before the platform can start."""


class Stopped(Exception):
    """Somebody asked for the end while the platform was starting."""
