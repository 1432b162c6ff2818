"""Reads what strangers upload, in a process of its own with hard limits. Knows neither Django nor the database.

It is told what to do by one JSON document on its standard input, puts what it finds into a spool directory
(`records.jsonl`, and each picture under the hash of its bytes), and says how far it is on its standard output.
"""
