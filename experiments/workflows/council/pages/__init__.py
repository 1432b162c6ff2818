"""How councils are asked and shown; what their ballots say together."""
