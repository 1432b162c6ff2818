"""The simulated provider: a real HTTP server that speaks the OpenAI protocol and answers deterministically.

`python -m experiments.gateway.simulated` serves the demonstration, `running()` serves tests. A model is named
`sim/<personality>[:option[=value]]…`; `names.py` has the personalities and what each option means:

    sim/cooperative                          talks at the server's pace
    sim/competitive:tps=200:words=60         faster, and exactly 60 words
    sim/drifting:think=tags:cost             its reasoning in <think>, a price in its usage
    sim/cooperative:fail=cut:after=20:times=1   breaks off once after 20 tokens, then succeeds
    sim/judge:json=fenced, sim/filter        answer with JSON, here inside a code fence
    sim/vision-judge:bias=0.2                sees pictures; as a judge of battles it favours what is shown first
    sim/judge:gullible=0.4                   believes four in ten answers that ask it for a verdict
    sim/judge:json=talk:odds=0.1             every tenth structured answer is only talk

What is asked for is told by the prompt: a talk, a plain question, or a part of a council or a debate (`tasks.py`).
"""

from experiments.gateway.simulated.serving import Running, running

__all__ = ["Running", "running"]
