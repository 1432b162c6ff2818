"""The questions of the demonstration, and how its made-up contestants answer them."""

from typing import NamedTuple

ANSWERERS = ("maple-large", "maple-small", "pebble", "drizzle")


class Question(NamedTuple):
    """facts: true sentences, the most important first. vague: what somebody says who does not know."""

    category: str
    text: str
    facts: tuple[str, str, str, str]
    vague: str


def answer(question: Question, name: str) -> str:
    """All that there is to say and how it hangs together; the main part; one fact; or next to nothing."""
    first, second, third, fourth = question.facts
    if name == "maple-large":
        return f"{first} {second}\n\n- {third}\n- {fourth}\n\nIn short: {first[0].lower()}{first[1:]}"
    if name == "maple-small":
        return f"{first} {second} {third}"
    return f"{first}" if name == "pebble" else question.vague


QUESTIONS = (
    Question(
        "science",
        "Why is the sky blue?",
        (
            "Air scatters the short waves of sunlight far more than the long ones.",
            "Blue light therefore reaches us from every part of the sky.",
            "The strength of this Rayleigh scattering grows with the fourth power of the frequency.",
            "Violet is scattered even more, but the sun sends less of it and our eyes see it less well.",
        ),
        "The sky reflects the sea, so it is blue.",
    ),
    Question(
        "science",
        "Why does ice float on water?",
        (
            "Ice is less dense than liquid water.",
            "When water freezes, its molecules settle in an open lattice that needs more room.",
            "About nine per cent of a floating block of ice is therefore above the surface.",
            "Lakes freeze from the top, which lets fish live below the ice in winter.",
        ),
        "Ice is cold and cold things rise.",
    ),
    Question(
        "science",
        "What causes the seasons?",
        (
            "The axis of the Earth is tilted by about 23 degrees against its orbit.",
            "The half that leans towards the sun has longer days and steeper light.",
            "The seasons of the two hemispheres are therefore opposite.",
            "The changing distance to the sun matters little: the Earth is closest to it in January.",
        ),
        "In summer we are nearer to the sun.",
    ),
    Question(
        "science",
        "How does a vaccine work?",
        (
            "A vaccine shows the immune system a harmless part or form of a germ.",
            "The body makes antibodies and memory cells against it.",
            "When the real germ comes, these cells answer within days instead of weeks.",
            "Some vaccines need a second dose, because memory grows with repetition.",
        ),
        "It is a medicine that kills all germs.",
    ),
    Question(
        "practice",
        "How do I remove a red wine stain from a cotton shirt?",
        (
            "Dab the fresh stain with a dry cloth at once; do not rub.",
            "Soak it in cold water with a little washing-up liquid for half an hour.",
            "An oxygen bleach helps with what remains on white cotton.",
            "Keep it away from heat and the tumble dryer until the stain has gone.",
        ),
        "Just wash it.",
    ),
    Question(
        "practice",
        "How do I keep basil alive on a window sill?",
        (
            "Give it at least six hours of light and water it from below when the top of the soil is dry.",
            "Split a crowded pot from a shop into three or four pots.",
            "Cut stems just above a pair of leaves, so that they branch.",
            "Pinch off flowers: leaves turn bitter once it blooms.",
        ),
        "Plants need water.",
    ),
    Question(
        "practice",
        "How should I prepare for a job interview?",
        (
            "Read what the employer does and match it with two or three stories of your own work.",
            "Practise telling each story as situation, action and result.",
            "Prepare questions about the team and about the first months.",
            "Try the way there or the video link the day before.",
        ),
        "Be yourself and it will be fine.",
    ),
    Question(
        "practice",
        "What should I check before buying a used bicycle?",
        (
            "Look along the frame for cracks and dents, above all at the welds.",
            "Spin both wheels, and test the brakes and every gear on a ride.",
            "Measure the wear of the chain: a new chain often needs a new cassette.",
            "Ask for the receipt and compare the frame number with the register of stolen bicycles.",
        ),
        "Check whether you like the colour.",
    ),
    Question(
        "words",
        "Explain the word “serendipity” to a ten-year-old.",
        (
            "Serendipity means finding something good that you were not looking for.",
            "You look for your lost shoe under the bed and find the toy that you missed for weeks.",
            "The word was made up by a writer in 1754 after a fairy tale about three princes.",
            "It takes luck, and eyes that are open for it.",
        ),
        "It is a long word for something nice.",
    ),
    Question(
        "words",
        "What is the difference between “affect” and “effect”?",
        (
            "“Affect” is mostly a verb and means to change something; “effect” is mostly a noun and means the change.",
            "Rain affects the harvest; the harvest shows the effect of the rain.",
            "“To effect” is a rarer verb and means to bring about.",
            "In psychology “an affect” is a feeling, with the stress on its first syllable.",
        ),
        "They mean the same.",
    ),
    Question(
        "words",
        "Write one friendly sentence that declines a party invitation.",
        (
            "Thank you so much for asking me; I cannot come on Saturday, but I would love to hear all about it.",
            "It gives thanks first and the answer at once.",
            "It needs no excuse, which keeps it honest.",
            "It ends with something to look forward to.",
        ),
        "No.",
    ),
    Question(
        "words",
        "Give a short title for an article about bees in cities.",
        (
            "Rooftop Honey: How Bees Came to Town.",
            "It names the place and the surprise.",
            "The part after the colon says what the article explains.",
            "Six words are read at a glance.",
        ),
        "Article about bees.",
    ),
)
