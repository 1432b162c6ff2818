"""What can go wrong around a box; what goes wrong inside it is a verdict."""


class SandboxError(Exception):
    """Anything this room raises."""


class Unavailable(SandboxError):
    """Nothing here keeps strange code in well enough. The message says what is missing and how to get it."""


class NotStarted(SandboxError):
    """A box did not come up, or came up with less than was asked for. The message is what it said."""
