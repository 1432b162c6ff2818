"""The set-up page of workflows that declare theirs: form, estimate, and what a run page says of the set-up."""
