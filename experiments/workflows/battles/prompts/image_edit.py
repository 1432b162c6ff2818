from experiments.workflows.battles.judge_prompt import JudgePrompt

PROMPT = JudgePrompt(
    name="image_edit",
    title="Which image carries out the edit better",
    description="Which of two images carries out an edit of the given images better.",
    modalities=("image",),
    allows_tie=False,
    criteria={
        "text_faithfulness": "is everything done that the instruction asks for, and as it asks?",
        "image_faithfulness": "is everything kept of the given images that was not to be changed?",
        "overall_image_quality": "does it look right: no artefacts, natural light, intact bodies and objects?",
        "text_rendering": "is writing in the image correct and legible? 10 where there is none and none was asked for.",
    },
    rules="""
You compare two edited images, Response A and Response B, that were made from the same given images by the same
instruction, and say which one carries it out better. An image that does not do what was asked loses to one that does.
Of two that do, the one wins that keeps more of what should have stayed as it was, and then the one that looks better.
""",
)
