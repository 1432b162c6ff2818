"""Starts, watches and stops the processes of the platform. Knows processes, files and ports; no models, no pages."""


class CannotStart(Exception):
    """Something outside has to change before the platform can start; the message says what."""


class Stopped(Exception):
    """The end was asked for while the platform was starting."""
