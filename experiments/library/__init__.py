"""What runs are made of, and how they are found again.

Here: scenarios and presets, those that come with the platform (`builtin`, its texts in `files/`) and those of people
(`scenarios`, `presets`). The subpackages hold datasets, imports, files of many runs, the search, and tags and notes.
"""
