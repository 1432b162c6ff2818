"""The public pages: `ladders` (lists, ratings, history), `coding` (its ladder and cycles), `battles` (the browser)."""
