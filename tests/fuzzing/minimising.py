"""The shortest input that still breaks a reader in the same way."""

import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_ATTEMPTS = 4_000


def signature(error: BaseException) -> str:
    """Where in our files it broke, and how: equal for inputs that break it alike."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(ROOT))]
    frame = ours[-1] if ours else None
    place = f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}" if frame else "?"
    return f"{type(error).__name__} at {place}"


def breaks(check: Callable[[bytes], None], data: bytes) -> str:
    """How it breaks; "" where it holds."""
    try:
        check(data)
    except Exception as error:  # whatever comes is what is looked for
        return signature(error)
    return ""


def minimised(check: Callable[[bytes], None], data: bytes) -> bytes:
    """Stretches are taken away, long ones first, for as long as it breaks in the same way."""
    wanted, length = breaks(check, data), len(data) // 2
    attempts = 0
    while length and attempts < MOST_ATTEMPTS:
        at = 0
        while at < len(data) and attempts < MOST_ATTEMPTS:
            shorter = data[:at] + data[at + length :]
            attempts += 1
            if breaks(check, shorter) == wanted:
                data = shorter
            else:
                at += length
        length = min(length // 2, len(data))
    return data
