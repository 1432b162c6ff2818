class BackupRefused(Exception):
    """A backup cannot be taken, is not whole, or cannot be restored here. The message says what to do."""
