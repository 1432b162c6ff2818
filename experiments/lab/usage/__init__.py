"""What was spent, by whom and on what."""
