"""What the leaderboard hears from below."""


def connect() -> None:
    """Called once all apps are loaded."""
