"""Instruments: those that come with the platform or with an installed distribution, and the ones that people define.

`services.py` has what changes them (save, revise, archive, import from a file), `builtin.py` those that come along,
`api.py` the API. A version's definition is a value: `workflows.base.instruments.Definition`.
"""
