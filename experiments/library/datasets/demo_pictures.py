"""The scenes of the demonstration, and how its made-up contestants draw them. The same scene gives the same bytes."""

import json
import random
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw

FILE = Path(__file__).parents[1] / "files" / "demonstration" / "pictures.json"
PAINTERS = ("atelier", "studio", "sketch", "smudge")
WIDTH, HEIGHT, SCALE = 160, 120, 4  # pixels; drawn larger and scaled down, for smooth edges
COLOURS = {
    "red": (206, 45, 52),
    "blue": (38, 96, 196),
    "green": (46, 139, 70),
    "yellow": (236, 190, 40),
    "purple": (124, 66, 170),
    "orange": (232, 124, 32),
}
WRONG = {"red": "orange", "blue": "purple", "green": "yellow", "yellow": "green", "purple": "blue", "orange": "red"}


class Shape(NamedTuple):
    """x, y: the middle; radius: half its width; all in pixels of the finished picture."""

    kind: str
    colour: str
    x: int
    y: int
    radius: int


class Scene(NamedTuple):
    """before: the picture that is to be changed, where the instruction is to change one."""

    category: str
    instruction: str
    shapes: tuple[Shape, ...]
    before: tuple[Shape, ...] = ()

    @property
    def is_edit(self) -> bool:
        return bool(self.before)


def draw_input(scene: Scene) -> bytes:
    """The picture that belongs to the instruction, as PNG."""
    return _png(_flat(scene.before))


def draw(scene: Scene, painter: str, seed: int) -> bytes:
    """The scene as this painter sees it, as PNG of 160 x 120 pixels."""
    if painter == "atelier":
        return _png(_shaded(scene.shapes))
    if painter == "studio":  # everything as asked, flat
        return _png(_flat(scene.shapes))
    if painter == "sketch":  # about as asked: places and sizes slip, edges are coarse
        chance = random.Random(f"{painter}/{seed}")
        slipped = [
            shape._replace(
                x=shape.x + chance.randint(-9, 9), y=shape.y + chance.randint(-9, 9), radius=shape.radius * 3 // 4
            )
            for shape in scene.shapes
        ]
        return _png(_coarse(_flat(slipped), 5, Image.Resampling.NEAREST))
    # smudge: the wrong colour, one thing missing, and all of it as if seen through a frosted window
    kept = list(scene.shapes)[: max(1, len(scene.shapes) - 1)]
    mistaken = [shape._replace(colour=WRONG[shape.colour], x=WIDTH - shape.x) for shape in kept]
    return _png(_coarse(_flat(mistaken), 20, Image.Resampling.BOX))


def _shaded(shapes: Sequence[Shape]) -> Image.Image:
    """Everything as asked, with light from above, shadows and a ground to stand on."""
    picture = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE))
    sky = ImageDraw.Draw(picture)
    for y in range(HEIGHT * SCALE):
        far = y / (HEIGHT * SCALE)
        sky.line([(0, y), (WIDTH * SCALE, y)], (int(206 + 44 * far), int(224 + 18 * far), int(244 - 40 * far)))
    sky.rectangle([0, HEIGHT * SCALE * 4 // 5, WIDTH * SCALE, HEIGHT * SCALE], (222, 214, 192))
    canvas = ImageDraw.Draw(picture, "RGBA")
    for shape in shapes:
        across, down, y = shape.radius, shape.radius // 4, shape.y + shape.radius
        corners = (shape.x - across, y - down, shape.x + across, y + down)
        canvas.ellipse([corner * SCALE for corner in corners], (0, 0, 0, 70))
    for shape in shapes:
        _paint(canvas, shape, COLOURS[shape.colour])
        bright = tuple(min(255, part + 60) for part in COLOURS[shape.colour])
        light = shape._replace(x=shape.x - shape.radius // 4, y=shape.y - shape.radius // 4, radius=shape.radius // 2)
        _paint(canvas, light, (*bright, 140))
    return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _flat(shapes: Sequence[Shape]) -> Image.Image:
    picture = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), (246, 244, 238))
    canvas = ImageDraw.Draw(picture)
    for shape in shapes:
        _paint(canvas, shape, COLOURS[shape.colour])
    return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _coarse(picture: Image.Image, times: int, by: Image.Resampling) -> Image.Image:
    small = picture.resize((WIDTH // times, HEIGHT // times), by)
    return small.resize((WIDTH, HEIGHT), Image.Resampling.NEAREST)


def _paint(canvas: ImageDraw.ImageDraw, shape: Shape, colour: tuple[int, ...]) -> None:
    left, top = (shape.x - shape.radius) * SCALE, (shape.y - shape.radius) * SCALE
    right, bottom = (shape.x + shape.radius) * SCALE, (shape.y + shape.radius) * SCALE
    if shape.kind == "circle":
        canvas.ellipse([left, top, right, bottom], colour)
    elif shape.kind == "square":
        canvas.rectangle([left, top, right, bottom], colour)
    else:
        canvas.polygon([(left, bottom), (right, bottom), ((left + right) // 2, top)], colour)


def _png(picture: Image.Image) -> bytes:
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


SCENES = tuple(
    Scene(
        told["category"],
        told["instruction"],
        tuple(Shape(*shape) for shape in told["shapes"]),
        tuple(Shape(*shape) for shape in told.get("before", ())),
    )
    for told in json.loads(FILE.read_text(encoding="utf-8"))
)
