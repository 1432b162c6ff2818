"""The API of people: tokens, who is in the lab, projects, the audit record."""
