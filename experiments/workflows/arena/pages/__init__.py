"""The pages of the arena."""
