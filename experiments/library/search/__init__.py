"""The search: `indexing` keeps words, `query` reads what somebody types, `finding` answers it, `excerpts` shows it.

`backends` has what differs between databases; `runs` finds runs by their words, for lists.
"""
