"""Who watches a run, what they have not seen yet, and whether they still may."""
