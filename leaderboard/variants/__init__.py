"""The register of a dataset's contestants: which is a variant of which, and what is known of each."""
