"""Votes: `voters` says who votes and how often, `voting` offers a pair and casts the vote.

`voter_report` is for those who decide which votes count; `agreement` compares votes with judges.
"""
