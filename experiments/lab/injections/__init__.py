"""How often a judge is talked into something: answers that are known to be wrong, with instructions to the judge."""
