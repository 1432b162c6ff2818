"""The program that runs in the box. It needs Python 3.9 and nothing of ours outside this folder; what it imports costs
every test its milliseconds, hence `_ctypes` and `marshal` where `ctypes` and `json` would be the usual words."""
