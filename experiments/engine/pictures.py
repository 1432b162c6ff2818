"""Pictures that providers would not take as they are."""

import io

from PIL import Image as Pictures

JPEG_QUALITY = 90


def reduced(data: bytes, *, longest_side: int, most_bytes: int) -> tuple[str, bytes, int]:
    """Within the limits of side (pixels) and bytes: halved as long as it is too large. PNG where something shows
    through, else JPEG. Returns MIME type, bytes and number of pixels. Raises OSError, SyntaxError and ValueError.
    """
    try:
        with Pictures.open(io.BytesIO(data)) as picture:
            has_alpha = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
            made: Pictures.Image = picture.convert("RGBA" if has_alpha else "RGB")
    except Pictures.DecompressionBombError as error:
        raise ValueError(str(error)) from error
    while True:
        made.thumbnail((longest_side, longest_side))
        target = io.BytesIO()
        if has_alpha:
            made.save(target, "PNG")
        else:
            made.save(target, "JPEG", quality=JPEG_QUALITY)
        if len(found := target.getvalue()) <= most_bytes:
            return "image/png" if has_alpha else "image/jpeg", found, made.width * made.height
        longest_side //= 2
