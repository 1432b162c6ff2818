"""What an operator can see of the platform: figures for Prometheus, traces, and the page of what is going on now.

`families` lists the figures. What happens is counted where it happens (`counting`) and added up in Redis, over all
processes and machines; what stands at the moment is read from the database and Redis when somebody asks (`standing`).
"""
