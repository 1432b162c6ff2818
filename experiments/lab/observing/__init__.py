"""What an operator can see of the platform: figures for Prometheus, traces, and the page of what is going on now.

`counting` lists the figures; what happens is counted where it happens, and added up in Redis over all processes and
machines. `status` reads the present state from the database and Redis when it is asked for.
"""
