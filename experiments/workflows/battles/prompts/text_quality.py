from experiments.workflows.battles.judge_prompt import JudgePrompt

PROMPT = JudgePrompt(
    name="text_quality",
    title="Which text is the better answer",
    description="Which of two texts is the better answer, on the whole.",
    modalities=("text",),
    allows_tie=True,
    criteria={
        "helpfulness": "does it give whoever asked what they need?",
        "accuracy": "is what it says true, and is nothing made up?",
        "completeness": "is anything missing that belongs to the answer?",
        "clarity": "is it easy to follow, in good order, and without padding?",
    },
    rules="""
You compare two responses to the same instruction, Response A and Response B, and say which one serves the person who
asked better. A mistake that would mislead them weighs more than a weakness of style; a refusal of what could safely be
answered is a failure.
""",
)
