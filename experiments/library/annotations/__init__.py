"""How people find, mark and take up again what was done: tags, notes, saved views, comparisons and clones."""
