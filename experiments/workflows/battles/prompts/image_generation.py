from experiments.workflows.battles.judge_prompt import JudgePrompt

PROMPT = JudgePrompt(
    name="image_generation",
    title="Which image shows the description better",
    description="Which of two images shows better what a description asks for.",
    modalities=("image",),
    allows_tie=False,
    criteria={
        "faithfulness": "does it show all that is described: things, number, attributes, relations, style?",
        "realism": "is what it shows coherent: bodies, perspective, light, no artefacts?",
        "aesthetics": "is it well composed and pleasing to look at?",
        "text_rendering": "is writing in the image correct and legible? 10 where there is none and none was asked for.",
    },
    rules="""
You compare two images, Response A and Response B, that were made from the same description, and say which one shows
better what was asked for. Judge only what can be seen in them. An image that leaves out or contradicts what is
described loses to one that shows it; of two that show it, the one wins that is made better.
""",
)
