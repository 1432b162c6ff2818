"""Pictures without a trace of whose they are: drawn anew, so that no name, maker's mark or known bytes remain."""

import io
from pathlib import Path

from PIL import Image as Picture
from PIL import ImageOps

LONGEST_SIDE = 4096  # pixels; what is larger is shown smaller


def png(path: Path) -> bytes:
    """The picture alone as PNG: turned as it says of itself, without its metadata.

    Raises OSError for a file that is missing or cannot be read.
    """
    with Picture.open(path) as opened:
        picture = ImageOps.exif_transpose(opened)
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        has_alpha = picture.has_transparency_data
        plain = picture.convert("RGBA" if has_alpha else "RGB")
    written = io.BytesIO()
    Picture.frombytes(plain.mode, plain.size, plain.tobytes()).save(written, "PNG", compress_level=1)
    return written.getvalue()
