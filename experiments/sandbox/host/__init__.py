"""The sandbox's worker: takes code that waits, runs it in boxes, records what they found, and tests itself."""
