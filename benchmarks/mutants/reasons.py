"""Changes that no test notices, and why none is written: each by its file and what the line says before and after."""

REASONS: dict[tuple[str, str, str], str] = {}
