from experiments.workflows.battles.judge_prompt import JudgePrompt

PROMPT = JudgePrompt(
    name="text_instruction",
    title="Which text follows the instruction more strictly",
    description="Which of two texts does exactly what the instruction asks for.",
    modalities=("text",),
    allows_tie=True,
    criteria={
        "adherence": "does it keep every explicit demand: form, length, language, number, what to leave out?",
        "coverage": "is every part of the instruction dealt with?",
        "restraint": "does it stay within what was asked, without additions that nobody wanted?",
    },
    rules="""
You compare two responses to the same instruction, Response A and Response B, and say which one follows the instruction
more strictly. List for yourself what the instruction demands, one demand at a time, and check each response against
every one of them. A response that breaks an explicit demand loses to one that keeps it, however well it is written;
only among responses that keep the same demands does quality decide.
""",
)
