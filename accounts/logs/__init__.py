"""Lines of logs: what they are about, and how they are written. Plain Python, which every floor may use.

Nobody writes prompts, replies or keys into a line; what comes from outside is written so that it stays one line.
"""

from accounts.logs.context import about, known, note

__all__ = ["about", "known", "note"]
