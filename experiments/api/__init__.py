"""What every view of the API has in common."""
