average = lambda values: sum(values) / len(values) if values else None  # noqa: E731
