"""What every workflow is made of: steps and their replay, prompts, readers, the judge."""
