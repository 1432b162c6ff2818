"""The battle browser: which battles a page shows, found by index whatever is asked for."""
